"""Which bytes of which files are read together, and how far every source has come before each of them. Needs no Spark.

A range begins behind a newline. A file that is small, has quotes in its header, or is no text is one range. What is
found out about a range (`executor.measure`) gives the watermark before the next: a prefix maximum over the order of
arrival.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from glob import glob
from itertools import pairwise
from pathlib import Path

from dfc.compiler.failure import Failure, Usage

from .overlap import Overlap

RANGE_BYTES = 64 << 20
NONE = -(1 << 63)
_MARK = b"\xef\xbb\xbf"
_HEAD = 1 << 20
Progress = tuple[int, int, int, int]  # as dfrt_progress: index, highest, delay, watermark
START: Progress = (0, NONE, 0, NONE)


@dataclass(frozen=True)
class SourceInput:
    """A source as the ranges need it. `slack` is -1 for auto."""

    name: str
    number: int
    files: tuple[str, ...]  # specifications such as csv:/data/a.csv, in order
    timed: bool
    slack: int
    keys: tuple[str, ...]
    slack_from: int = 0  # what `slack auto` begins with


@dataclass(frozen=True)
class Range:
    source: SourceInput
    spec: str
    whole: bool = True
    header: int = 0
    begin: int = 0
    end: int = 0
    header_lines: int = 0
    progress: Progress = START
    lines_before: int = 0
    measured: dict = field(default_factory=dict, compare=False)

    def as_data(self) -> dict:
        """What the executors get."""
        return {"source": self.source.number, "spec": self.spec, "whole": self.whole, "header": self.header,
                "begin": self.begin, "end": self.end, "slack": self.source.slack, "progress": list(self.progress),
                "keys": list(self.source.keys), "timed": self.source.timed}

    def line(self, number: int) -> int:
        """The line of the file, of a row that the executor has counted in the range."""
        return number if self.whole else number - self.header_lines + self.lines_before


# --- files ------------------------------------------------------------------------------------------


def files_of(name: str, spec: str) -> tuple[str, ...]:
    """The files behind a specification, by name: a path, a folder, or a pattern such as day-*.csv."""
    kind, _, rest = spec.partition(":")
    if kind == "generate":
        if not any(word.partition("=")[0] in ("count", "rates") for word in rest.split(",")):
            raise Usage(f"source `{name}` generates without end: give it a `count` to run it on Spark")
        return (spec,)
    if kind not in ("csv", "jsonl", "lines", "binary") or rest in ("", "-"):
        raise Usage(f"source `{name}` ({spec}) is no file: Spark reads csv, jsonl, lines, binary and generate")
    path = Path(rest).absolute()
    if path.is_dir():
        found = sorted(str(one) for one in path.iterdir() if one.is_file() and not one.name.startswith((".", "_")))
    else:
        found = [str(path)] if path.exists() else sorted(glob(str(path)))
    if not found:
        raise Failure(f"cannot open '{rest}': No such file or directory")
    return tuple(f"{kind}:{one}" for one in found)


def ranges_of(source: SourceInput, size: int = RANGE_BYTES) -> list[Range]:
    found: list[Range] = []
    for spec in source.files:
        try:
            found += _cut(source, spec, size)
        except OSError as error:
            raise Failure(f"cannot open '{error.filename}': {error.strerror}") from None
    return found


def _cut(source: SourceInput, spec: str, size: int) -> list[Range]:
    kind, _, path = spec.partition(":")
    if kind not in ("csv", "jsonl", "lines"):
        return [Range(source, spec)]
    total = os.stat(path).st_size
    with open(path, "rb") as file:
        header = _header(file.read(_HEAD)) if kind == "csv" else (0, 0)
        if header is None or total - header[0] <= size:
            return [Range(source, spec)]
        cuts = [header[0]]
        while cuts[-1] < total:
            cuts.append(_behind_newline(file, cuts[-1] + size, total))
    return [Range(source, spec, False, header[0], begin, end, header[1]) for begin, end in pairwise(cuts)]


def _header(head: bytes) -> tuple[int, int] | None:
    """Bytes and lines up to the first row; None when that can't be said without reading as CSV is read."""
    at, lines = len(_MARK) if head.startswith(_MARK) else 0, 0
    while (end := head.find(b"\n", at)) >= 0:
        line, at, lines = head[at:end], end + 1, lines + 1
        if line.strip(b"\r"):
            return None if b'"' in line else (at, lines)
    return None


def _behind_newline(file, at: int, total: int) -> int:
    """The next begin of a line. One that begins with a byte-order mark would lose it, so the cut is made after it."""
    file.seek(at)
    while at < total:
        line = file.readline(_HEAD)
        at += len(line)
        if line.endswith(b"\n"):
            follows = file.read(len(_MARK))
            file.seek(at)
            if follows != _MARK:
                return at
        elif not line:
            break
    return total


# --- stretches that overlap ---------------------------------------------------------------------------


def stretches(ranges: list[Range], count: int, overlap: Overlap) -> list[dict]:
    """The ranges of one source in up to `count` stretches. Results that rows from `begin` on release are a stretch's
    own; `start` is the row to begin with, so that the windows which are then open hold what they hold in one piece."""
    if not ranges:
        return []
    count = min(count, len(ranges))
    bounds = [len(ranges) * at // count for at in range(count + 1)]
    found = []
    for first, end in pairwise(bounds):
        start, begin = _row_before(ranges, first, overlap), ranges[first].progress[0]
        reached = max(at for at in range(first + 1) if _holds(ranges, at, first, start, overlap))
        found.append({"parts": [one.as_data() for one in ranges[reached:end]], "start": start, "begin": begin,
                      "last": end == len(ranges)})
    return found


def _row_before(ranges: list[Range], first: int, overlap: Overlap) -> int:
    """Count windows come out at multiples of their slide."""
    before = ranges[first].progress[0] - overlap.rows
    return max(0, before // overlap.slide * overlap.slide) if overlap.rows else 0


def _holds(ranges: list[Range], at: int, first: int, start: int, overlap: Overlap) -> bool:
    """Whether everything that windows open before range `first` hold is in range `at` or later. How far the watermark
    had come at the last row before `first` is known only from the beginning of that row's range."""
    if at == 0 or first == 0:
        return True
    if overlap.rows:
        return ranges[at].progress[0] <= start
    last = next((one for one in reversed(ranges[:first]) if one.measured["after"][0] > 0), ranges[0])
    watermark, highest = last.progress[3], ranges[at].progress[1]
    return watermark != NONE and (highest == NONE or highest < watermark - overlap.time)


# --- how far a source has come ----------------------------------------------------------------------

Measure = Callable[[list[Range]], list[dict]]  # what `executor.measure` says of each, done somewhere


def measured(source: SourceInput, measure: Measure, size: int = RANGE_BYTES) -> list[Range]:
    """The ranges of a source with what was found in them, and with the progress before each."""
    ranges = _with_findings(ranges_of(source, size), measure)
    quoted = {one.spec for one in ranges if not one.whole and one.measured["quotes"] and one.spec.startswith("csv:")}
    if quoted:  # a newline may be inside quotes: such a file is read in one go
        again = _with_findings([Range(source, spec) for spec in source.files if spec in quoted], measure)
        by_spec = {one.spec: one for one in again}
        ranges = [by_spec.pop(one.spec) if one.spec in by_spec else one for one in ranges
                  if one.spec not in quoted or one.spec in by_spec]
    marks = None
    if source.timed and source.slack < 0 and len(ranges) > 1:
        marks = [found["after"][3] for found in measure(_with_progress(ranges, None))]
    return _with_progress(ranges, marks)


def _with_findings(ranges: list[Range], measure: Measure) -> list[Range]:
    return [replace(one, measured=found) for one, found in zip(ranges, measure(ranges), strict=True)]


def _with_progress(ranges: list[Range], marks: list[int] | None) -> list[Range]:
    """`marks`: the watermark that the rows of each range reach by themselves; without them the rule of a fixed slack.
    Only `slack auto` needs them: how its watermark moves inside a range depends on what came before."""
    index, highest, _, watermark = START
    now, lines, found = (index, highest, ranges[0].source.slack_from if ranges else 0, watermark), 0, []
    for at, one in enumerate(ranges):
        first = at == 0 or ranges[at - 1].spec != one.spec
        lines = one.header_lines if first else lines
        found.append(replace(one, progress=now, lines_before=lines))
        lines += one.measured["lines"]
        now = _after(now, one, None if marks is None else marks[at])
    return found


def _after(now: Progress, one: Range, mark: int | None) -> Progress:
    index, highest, delay, watermark = now
    own = one.measured
    index += own["after"][0]
    if own["highest"] == NONE:
        return index, highest, delay, watermark
    delay = max(delay, own["delay"], 0 if highest == NONE else highest - own["lowest"])
    highest = max(highest, own["highest"])
    if mark is not None:
        watermark = max(watermark, mark)
    elif one.source.slack >= 0:
        watermark = max(watermark, highest - one.source.slack)
    return index, highest, delay, watermark
