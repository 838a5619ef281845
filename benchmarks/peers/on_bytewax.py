"""The csv and the windows row in Bytewax, in one process with one worker."""

from __future__ import annotations

import csv
import math
import sys
from collections import deque
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from itertools import islice
from pathlib import Path

import bytewax.operators as op
import bytewax.operators.windowing as win
from bytewax.dataflow import Dataflow
from bytewax.inputs import DynamicSource, StatelessSourcePartition
from bytewax.outputs import DynamicSink, StatelessSinkPartition
from bytewax.testing import cluster_main

ZERO = datetime.fromtimestamp(0, UTC)
BATCH = 1000


class Reading(StatelessSourcePartition):
    def __init__(self, items: Iterator):
        self.items = items

    def next_batch(self):
        batch = list(islice(self.items, BATCH))
        if not batch:
            raise StopIteration
        return batch


class Given(DynamicSource):
    def __init__(self, items: Iterator):
        self.items = items

    def build(self, step_id, worker_index, worker_count):
        return Reading(self.items)


class Gathering(StatelessSinkPartition):
    def __init__(self, found: list):
        self.found = found

    def write_batch(self, items):
        self.found.extend(items)


class Found(DynamicSink):
    """Results are gathered and written at the end."""

    def __init__(self):
        self.rows = []

    def build(self, step_id, worker_index, worker_count):
        return Gathering(self.rows)


# --- csv ------------------------------------------------------------------------------------------------


def trades(path: str) -> Iterator[tuple[str, tuple]]:
    with open(path, newline="", encoding="utf-8") as file:
        rows = csv.reader(file)
        next(rows)
        for ts, key, price, volume in rows:
            yield key, (int(ts), float(price), int(volume))


def add(state: list, trade: tuple) -> list:
    _, price, volume = trade
    state[0] += 1
    state[1] += volume
    state[2] += price
    state[3] = price if price < state[3] else state[3]
    state[4] = price if price > state[4] else state[4]
    return state


def merge(left: list, right: list) -> list:
    return [left[0] + right[0], left[1] + right[1], left[2] + right[2], min(left[3], right[3]), max(left[4], right[4])]


def csv_flow(path: str, out: Found) -> Dataflow:
    flow = Dataflow("csv")
    clock = win.EventClock(lambda trade: ZERO + timedelta(milliseconds=trade[0]),
                           wait_for_system_duration=timedelta(milliseconds=200),
                           now_getter=lambda: ZERO, to_system_utc=lambda at: None)
    windower = win.SlidingWindower(length=timedelta(seconds=10), offset=timedelta(seconds=2), align_to=ZERO)
    folded = win.fold_window("fold", op.input("in", flow, Given(trades(path))), clock, windower,
                             lambda: [0, 0, 0.0, math.inf, -math.inf], add, merge)
    op.output("out", folded.down, out)
    return flow


def write_csv(path: str, rows: list) -> None:
    """A window is known by its number: of those aligned to 0, that one begins 2 s · number."""
    with Path(path).open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(("key", "start", "n", "volume", "mean", "low", "high"))
        writer.writerows((key, number * 2000, n, volume, total / n, low, high)
                         for key, (number, (n, volume, total, low, high)) in rows)


# --- windows --------------------------------------------------------------------------------------------


def quotes(path: str) -> Iterator[tuple[str, tuple]]:
    import packed

    held = packed.columns(path)
    for key, price, volume in zip(*(held[name].tolist() for name in ("key", "price", "volume")), strict=True):
        yield str(key), (price, volume)


def pane_of(tuples: list) -> tuple:
    mean = sum(price for price, _ in tuples) / 200
    return (mean, min(price for price, _ in tuples), max(price for price, _ in tuples),
            sum((price - mean) ** 2 for price, _ in tuples), sum(price * volume for price, volume in tuples),
            sum(volume for _, volume in tuples))


def window_of(panes: deque) -> tuple:
    means, lows, highs, spreads, worths, volumes = zip(*panes, strict=True)
    mean = sum(means) / 5
    spread = sum(spreads) + sum(200 * (own - mean) ** 2 for own in means)
    return mean, min(lows), max(highs), math.sqrt(spread / 999), sum(worths) / sum(volumes)


def count(state, tuples: list) -> tuple:
    """Bytewax has no count windows: panes of 200 tuples, and the last five of them."""
    pane, panes = state or ([], deque(maxlen=5))
    found = []
    for one in tuples:
        pane.append(one)
        if len(pane) == 200:
            panes.append(pane_of(pane))
            pane = []
            if len(panes) == 5:
                found.append(window_of(panes))
    return (pane, panes), found


class Count(op.StatefulBatchLogic):
    def __init__(self):
        self.state = None

    def on_batch(self, values):
        self.state, found = count(self.state, values)
        return found, op.StatefulBatchLogic.RETAIN

    def snapshot(self):
        return self.state


def windows_flow(path: str, out: Found) -> Dataflow:
    flow = Dataflow("windows")
    given = op.input("in", flow, Given(quotes(path)))
    op.output("out", op.stateful_batch("count", given, lambda state: Count()), out)
    return flow


def write_windows(path: str, rows: list) -> None:
    import numpy
    import packed

    numpy.array([(int(key), *values) for key, values in rows], packed.STATS).tofile(path)


def main() -> None:
    work, given, output = sys.argv[1:]
    out = Found()
    cluster_main(csv_flow(given, out) if work == "csv" else windows_flow(given, out), [], 0)
    (write_csv if work == "csv" else write_windows)(output, out.rows)


if __name__ == "__main__":
    main()
