"""The protocol of a change as a small model, and every interleaving of it.

A reader sends numbered tuples of two keys in rounds to two replicas, which count each key and send what they have
counted to a sink, which merges round by round. Between two rounds keys go from one replica to the other. The model is
that of docs/ARCHITECTURE.md: the end of a round carries the configuration, parcels go through mailboxes, a receiver
waits or goes on with held rounds. Whatever the order in which the threads run, the sink gets each tuple once, in order,
with the right count; nothing locks; and the change is complete only when both sides have done their part.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import pytest

ROUNDS, ROOM = 4, 2  # ROOM: rounds that a link holds
KEYS = (0, 1)
CHANGED = 2  # the first round of the new routes


@dataclass(frozen=True)
class Replica:
    """round: the next one to work on. counts: of the keys that it has. held: results of rounds that it holds back."""

    round: int = 0
    counts: tuple[tuple[int, int], ...] = ()
    left: bool = False        # has handed over what is not its own any more
    entered: bool = False     # has got what is its own now
    expected: int = 0
    parcels: tuple[tuple[tuple[int, int], ...], ...] = ()
    aside: tuple[tuple[int, int, int], ...] = ()  # (round, position, key)
    held: tuple[tuple[tuple[int, int, int], ...], ...] = ()


@dataclass(frozen=True)
class State:
    sent: int = 0  # rounds of the reader
    links: tuple[tuple[tuple, ...], ...] = ((), ())     # reader → replica: rounds
    replicas: tuple[Replica, ...] = (Replica(), Replica())
    results: tuple[tuple[tuple, ...], ...] = ((), ())   # replica → sink: rounds
    sunk: tuple[tuple[int, int, int], ...] = ()
    sunk_rounds: int = 0
    outstanding: int = 3  # the reader and both replicas


@dataclass(frozen=True)
class Scenario:
    protocol: str
    before: dict[int, int]
    after: dict[int, int]

    def owner(self, key: int, round_: int) -> int:
        return (self.after if round_ >= CHANGED else self.before)[key]

    def expected(self, replica: int) -> int:
        return len({self.before[key] for key in KEYS if self.after[key] == replica != self.before[key]})


def tuples(round_: int) -> list[tuple[int, int]]:
    """(position, key): both keys in every round."""
    return [(position, (round_ + position) % 2) for position in range(2)]


def put(many: tuple, at: int, one: object) -> tuple:
    return (*many[:at], one, *many[at + 1:])


def steps(state: State, how: Scenario) -> list[State]:
    found = [*read(state, how), *sink(state)]
    for number in range(2):
        found += work(state, how, number)
    return found


def read(state: State, how: Scenario) -> list[State]:
    waits = how.protocol == "s-blk" and state.sent == CHANGED and state.outstanding > 0
    if state.sent == ROUNDS or waits or any(len(link) == ROOM for link in state.links):
        return []
    links = tuple((*link, tuple((p, k) for p, k in tuples(state.sent) if how.owner(k, state.sent) == number))
                  for number, link in enumerate(state.links))
    done = state.outstanding - (state.sent + 1 == CHANGED)
    return [replace(state, sent=state.sent + 1, links=links, outstanding=done)]


def sink(state: State) -> list[State]:
    if not all(state.results):
        return []
    merged = tuple(sorted(one for link in state.results for one in link[0]))
    return [replace(state, results=tuple(link[1:] for link in state.results), sunk=state.sunk + merged,
                    sunk_rounds=state.sunk_rounds + 1)]


def work(state: State, how: Scenario, number: int) -> list[State]:
    own = state.replicas[number]
    if own.round == CHANGED and not own.left:
        return [leave(state, how, number)]
    found = []
    if own.left and not own.entered and len(own.parcels) == own.expected:
        found.append(settle(state, number))
    pending = own.left and not own.entered
    blocked = pending and how.protocol != "fluent"
    room = pending or len(state.results[number]) < ROOM
    if not blocked and state.links[number] and room:
        found.append(work_on_round(state, how, number))
    return found


def leave(state: State, how: Scenario, number: int) -> State:
    """Hands over what others have, in one parcel for each of them."""
    own, other = state.replicas[number], 1 - number
    gone = tuple((k, n) for k, n in own.counts if how.after[k] == other)
    kept = tuple((k, n) for k, n in own.counts if how.after[k] == number)
    replicas = put(state.replicas, number, replace(own, counts=kept, left=True, expected=how.expected(number)))
    if any(how.before[k] == number and how.after[k] == other for k in KEYS):
        there = replicas[other]
        replicas = put(replicas, other, replace(there, parcels=(*there.parcels, gone)))
    return replace(state, replicas=replicas)


def settle(state: State, number: int) -> State:
    """What was put aside runs against the parcels; results go to their places; held rounds go out."""
    own = state.replicas[number]
    parcel = dict(one for parcel in own.parcels for one in parcel)
    late: dict[int, list] = {}
    for round_, position, key in own.aside:
        parcel[key] = parcel.get(key, 0) + 1
        late.setdefault(round_, []).append((position, key, parcel[key]))
    first = own.round - len(own.held)
    rounds = tuple(tuple(sorted([*held, *late.get(first + i, [])])) for i, held in enumerate(own.held))
    assert set(late) <= set(range(first, own.round)), "a late result finds its round gone"
    counts = tuple(sorted({**dict(own.counts), **parcel}.items()))
    settled = replace(own, counts=counts, entered=True, aside=(), held=(), parcels=())
    return replace(state, replicas=put(state.replicas, number, settled),
                   results=put(state.results, number, state.results[number] + rounds),
                   outstanding=state.outstanding - 1)


def work_on_round(state: State, how: Scenario, number: int) -> State:
    own, batch = state.replicas[number], state.links[number][0]
    pending = own.left and not own.entered
    counts, results, aside = dict(own.counts), [], list(own.aside)
    for position, key in batch:
        if pending and how.before[key] != number:
            aside.append((own.round, position, key))
            continue
        counts[key] = counts.get(key, 0) + 1
        results.append((position, key, counts[key]))
    after = replace(own, round=own.round + 1, counts=tuple(sorted(counts.items())), aside=tuple(aside),
                    held=(*own.held, tuple(results)) if pending else own.held)
    sent = state.results if pending else put(state.results, number, (*state.results[number], tuple(results)))
    return replace(state, links=put(state.links, number, state.links[number][1:]),
                   replicas=put(state.replicas, number, after), results=sent)


def expected_results() -> tuple[tuple[int, int, int], ...]:
    counts, found = dict.fromkeys(KEYS, 0), []
    for round_ in range(ROUNDS):
        for position, key in tuples(round_):
            counts[key] += 1
            found.append((position, key, counts[key]))
    return tuple(found)


@pytest.mark.parametrize("protocol", ("fluent", "r-blk", "s-blk"))
@pytest.mark.parametrize(("before", "after"), [
    ({0: 0, 1: 1}, {0: 1, 1: 1}), ({0: 0, 1: 1}, {0: 1, 1: 0}), ({0: 0, 1: 0}, {0: 1, 1: 0}),
    ({0: 0, 1: 0}, {0: 1, 1: 1}), ({0: 0, 1: 1}, {0: 0, 1: 1}),
])
def test_every_interleaving(protocol: str, before: dict[int, int], after: dict[int, int]) -> None:
    how, wanted = Scenario(protocol, before, after), expected_results()
    seen, open_, ends = {State()}, [State()], 0
    while open_:
        state = open_.pop()
        assert wanted[:len(state.sunk)] == state.sunk, state
        assert state.outstanding > 0 or all(one.left and one.entered for one in state.replicas), state
        following = steps(state, how)
        if not following:
            assert state.sunk_rounds == ROUNDS and state.outstanding == 0, f"locked: {state}"
            ends += 1
        for one in following:
            if one not in seen:
                seen.add(one)
                open_.append(one)
    assert ends == 1  # whatever happened on the way, one state is left
