"""Runs that were played: each once, remembered, written to a journal as they come, and taken from it when a search goes
on. Since a search asks the same questions in the same order for the same seed, going on is asking them again."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from ..build.write import write_file
from ..failure import Failure, Usage
from .judge import averaged

Candidate = Mapping[str, Any]
Figures = dict[str, float]
Play = Callable[[Sequence[tuple[Candidate, int]]], list[Figures]]
JOURNAL_SCHEMA = 1


def key_of(candidate: Candidate) -> str:
    return hashlib.sha256(json.dumps(candidate, sort_keys=True).encode()).hexdigest()[:16]


class Runs:
    """`digest` names the search that the journal is of; `tell` is called when some more runs have been played."""

    def __init__(self, journal: Path, digest: str, tell: Callable[[Runs], None] = lambda runs: None):
        self.candidates: dict[str, Candidate] = {}
        self._journal, self._digest, self._tell = journal, digest, tell
        self._play: Play = lambda runs: []
        self._batch = 1
        self._figures: dict[tuple[str, int], Figures] = {}
        self._file = None

    def __len__(self) -> int:
        return len(self._figures)

    def play_by(self, play: Play, batch: int) -> None:
        """`play` gives the figures of some runs, in their order; it is asked for `batch` of them at a time."""
        self._play, self._batch = play, batch

    # --- the journal --------------------------------------------------------------------------------

    def begin(self) -> None:
        """A new journal; what another search left there is gone."""
        self._open()

    def go_on(self) -> None:
        """With what the journal has. A line that was cut off is left out; another search's journal is refused."""
        try:
            lines = self._journal.read_text(encoding="utf-8").splitlines()
        except OSError as error:
            raise Usage(f"--resume: there is no search to go on with in `{self._journal}`: {error.strerror}") from None
        except UnicodeDecodeError:
            raise Usage(f"--resume: `{self._journal}` is no journal of a search; leave out --resume") from None
        head = _line(lines[0]) if lines else None
        if head is None or head.get("journal") != JOURNAL_SCHEMA:
            raise Usage(f"--resume: `{self._journal}` is no journal of a search; leave out --resume")
        if head.get("search") != self._digest:
            raise Usage(f"--resume: the search in `{self._journal}` is of another program, profile or other words; "
                        "leave out --resume to begin anew")
        for one in (one for line in lines[1:] if (one := _line(line)) and {"candidate", "seed", "figures"} <= set(one)):
            self._figures[one["candidate"], one["seed"]] = {
                name: math.nan if value is None else value for name, value in one["figures"].items()}
        self._open()

    def _open(self) -> None:
        """With all that is known, whole or not at all; what comes is added to it."""
        head = json.dumps({"journal": JOURNAL_SCHEMA, "search": self._digest}) + "\n"
        write_file(self._journal, (head + self._lines(self._figures)).encode())
        try:
            self._file = open(self._journal, "a", encoding="utf-8")  # noqa: SIM115 (open as long as the search lasts)
        except OSError as error:
            raise Failure(f"can't write `{self._journal}`: {error.strerror}") from None

    def _lines(self, runs: Iterable[tuple[str, int]]) -> str:
        return "".join(json.dumps({"candidate": key, "seed": seed, "figures": {
            name: None if math.isnan(value) else value for name, value in self._figures[key, seed].items()}}) + "\n"
            for key, seed in runs)

    def _append(self, runs: Iterable[tuple[str, int]]) -> None:
        try:
            self._file.write(self._lines(runs))
            self._file.flush()
        except OSError as error:
            raise Failure(f"can't write `{self._journal}`: {error.strerror}") from None

    def close(self, finished: bool) -> None:
        """The journal of a search that has come to its end is of no more use."""
        if self._file is not None:
            self._file.close()
            if finished:
                self._journal.unlink(missing_ok=True)

    # --- playing ------------------------------------------------------------------------------------

    def played(self, candidates: Sequence[Candidate], seeds: int) -> dict[str, Figures]:
        """Means over the first so many seeds, by the candidates' keys."""
        keyed = {key_of(one): one for one in candidates}
        self.candidates |= keyed
        missing = [(key, seed) for key in keyed for seed in range(1, seeds + 1) if (key, seed) not in self._figures]
        for at in range(0, len(missing), self._batch):
            part = missing[at:at + self._batch]
            found = self._play([(keyed[key], seed) for key, seed in part])
            self._figures |= dict(zip(part, found, strict=True))
            self._append(part)
            self._tell(self)
        return {key: self.mean(key, seeds) for key in keyed}

    def mean(self, key: str, seeds: int) -> Figures:
        return averaged([self._figures[key, seed] for seed in range(1, seeds + 1)])

    def seeds_of(self, key: str) -> int:
        """How many of the first seeds it was played with."""
        seeds = 0
        while (key, seeds + 1) in self._figures:
            seeds += 1
        return seeds


def _line(text: str) -> dict | None:
    try:
        found = json.loads(text)
    except ValueError:
        return None
    return found if isinstance(found, dict) else None
