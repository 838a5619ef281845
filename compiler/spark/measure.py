"""Runs in the executors: one pass over a piece of a trace, which gives counts that can be added up in any order.

Counts are whole numbers, and sums of gaps are kept by piece and added in the order of pieces, so that the same traces
give the same profile whichever executor was faster.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from .schema import ROW
from .sketch import registers

FINE = 32  # buckets of delays for each doubling
MOST_KEYS = 1 << 16  # of a piece that are all told; of more, those with a share of at least LEAST_SHARE
LEAST_SHARE = 1 / 4096


Gaps = tuple[int, int, float, float]  # piece; count, sum and sum of squares of the times between its tuples


@dataclass(frozen=True, slots=True)
class PieceWork:
    """A piece of a source, and what to look at. Times are in units of the event time."""

    number: int
    source: str
    parts: tuple[str, ...]
    time: str | None
    unit: float  # seconds
    origin: int  # of bins and slices
    bin: int
    slice: int
    high: int | None  # the highest event time before this piece
    keys: tuple[tuple[str, tuple[str, ...]], ...]  # which key, made of which columns
    only: Mapping[str, frozenset[str]] | None = None  # second look: nothing but these keys


@dataclass
class Counts:
    """Of any number of pieces."""

    rows: dict[str, int] = field(default_factory=dict)  # by source, as all that follows
    bins: dict[str, dict[int, int]] = field(default_factory=dict)
    delays: dict[str, dict[int, int]] = field(default_factory=dict)  # bucket → tuples that came after a later one
    longest: dict[str, int] = field(default_factory=dict)
    gaps: dict[str, list[Gaps]] = field(default_factory=dict)
    keys: dict[str, dict[int, dict[str, int]]] = field(default_factory=dict)  # key → slice → value → tuples
    partial: set[str] = field(default_factory=set)  # keys of which not all values were told
    sketches: dict[str, np.ndarray] = field(default_factory=dict)

    def add(self, other: Counts) -> Counts:
        for name, rows in other.rows.items():
            self.rows[name] = self.rows.get(name, 0) + rows
        for mine, theirs in ((self.bins, other.bins), (self.delays, other.delays)):
            for name, counts in theirs.items():
                _add_counts(mine.setdefault(name, {}), counts)
        for name, delay in other.longest.items():
            self.longest[name] = max(delay, self.longest.get(name, 0))
        for name, gaps in other.gaps.items():
            self.gaps.setdefault(name, []).extend(gaps)
        for name, slices in other.keys.items():
            for at, counts in slices.items():
                _add_counts(self.keys.setdefault(name, {}).setdefault(at, {}), counts)
        for name, sketch in other.sketches.items():
            self.sketches[name] = np.maximum(sketch, self.sketches[name]) if name in self.sketches else sketch
        self.partial |= other.partial
        return self


def _add_counts(mine: dict, theirs: Mapping) -> None:
    _add_counts_at(mine, theirs.keys(), theirs.values())


def _add_counts_at(mine: dict, keys: Iterable, counts: Iterable[int]) -> None:
    for key, count in zip(keys, counts, strict=True):
        mine[key] = mine.get(key, 0) + count


def measure(pieces: Iterable[PieceWork]) -> Iterator[Counts]:
    """All pieces of a partition, added up."""
    found = Counts()
    for piece in pieces:
        found.add(measure_piece(piece))
    yield found


def measure_piece(piece: PieceWork) -> Counts:
    found, table = Counts(), _table(piece)
    times = None if piece.time is None else table[piece.time].to_numpy()
    slices = np.zeros(table.num_rows, np.int64) if times is None else (times - piece.origin) // piece.slice
    if piece.only is None:
        found.rows[piece.source] = table.num_rows
        if times is not None and len(times):
            _measure_times(piece, times, found)
    for name, columns in piece.keys:
        if piece.only is None or name in piece.only:
            _measure_keys(piece, name, [table[column] for column in columns], slices, found)
    return found


def _table(piece: PieceWork) -> pa.Table:
    """Rows in the order of their arrival."""
    of_keys = (column for _, columns in piece.keys for column in columns)
    wanted = list(dict.fromkeys([*([piece.time] if piece.time else []), *of_keys]))
    several = len(piece.parts) > 1
    schema = pq.read_schema(piece.parts[0])
    texts = [name for name in wanted if schema.field(name).type == pa.string()]
    wanted += [ROW] if several else []
    tables = [pq.ParquetFile(part, read_dictionary=texts).read(wanted, use_threads=False) for part in piece.parts]
    if not several:
        return tables[0]
    return pa.concat_tables(tables).unify_dictionaries().sort_by(ROW)


# --- times ------------------------------------------------------------------------------------------


def _measure_times(piece: PieceWork, times: np.ndarray, found: Counts) -> None:
    found.bins[piece.source] = _counted((times - piece.origin) // piece.bin)
    before = np.maximum.accumulate(times)
    before = np.concatenate(([before[0] if piece.high is None else piece.high], before[:-1]))
    if piece.high is not None:
        np.maximum(before, piece.high, out=before)
    delays = before - times
    late = delays[delays > 0]
    found.delays[piece.source] = _bucketed(_counted(late)) if len(late) else {}
    found.longest[piece.source] = int(late.max(initial=0))
    gaps = np.diff(np.sort(times) if len(late) else times) * piece.unit
    found.gaps[piece.source] = [(piece.number, len(gaps), float(gaps.sum()), float((gaps * gaps).sum()))]


def _counted(values: np.ndarray) -> dict[int, int]:
    """Of each value how often it is there."""
    low, high = int(values.min()), int(values.max())
    if high - low <= 4 * len(values) + 1024:
        counts = np.bincount(values - low)
        return {int(at) + low: int(counts[at]) for at in np.flatnonzero(counts)}
    return dict(zip(*(part.tolist() for part in np.unique(values, return_counts=True)), strict=True))


def _bucketed(delays: dict[int, int]) -> dict[int, int]:
    found: dict[int, int] = {}
    _add_counts_at(found, buckets(np.fromiter(delays.keys(), np.int64, len(delays))).tolist(), delays.values())
    return found


def buckets(delays: np.ndarray) -> np.ndarray:
    """By orders of magnitude, FINE for each doubling; below FINE exactly."""
    return np.where(delays < FINE, delays, np.floor(np.log2(np.maximum(delays, 1)) * FINE).astype(np.int64) + FINE)


def bucket_top(bucket: int) -> float:
    """The longest delay of a bucket."""
    return float(bucket) if bucket < FINE else 2.0 ** ((bucket - FINE + 1) / FINE)


# --- keys -------------------------------------------------------------------------------------------


def _measure_keys(piece: PieceWork, name: str, columns: list[pa.ChunkedArray], slices: np.ndarray,
                  found: Counts) -> None:
    codes, values = _coded(columns)
    if not len(codes):
        return
    first = int(slices.min())
    pairs, counts = _pairs((slices - first) * len(values) + codes)
    at, code = pairs // len(values) + first, pairs % len(values)
    told = _told(piece, name, code, counts, values, found)
    mine = found.keys.setdefault(name, {})
    for slice_, value, count in zip(at[told].tolist(), [values[one] for one in code[told].tolist()],
                                    counts[told].tolist(), strict=True):
        mine.setdefault(slice_, {})[value] = count


def _told(piece: PieceWork, name: str, code: np.ndarray, counts: np.ndarray, values: list[str],
          found: Counts) -> np.ndarray:
    """Which of the pairs are handed on: all, the asked ones, or those of heavy keys."""
    if piece.only is not None:
        asked = np.fromiter((value in piece.only[name] for value in values), bool, len(values))
        return asked[code]
    if len(values) <= MOST_KEYS:
        return np.ones(len(code), bool)
    totals = np.bincount(code, weights=counts, minlength=len(values))
    found.partial.add(name)
    found.sketches[name] = registers(values)
    return (totals >= totals.sum() * LEAST_SHARE)[code]


def _pairs(combined: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    high = int(combined.max())
    if high <= 4 * len(combined) + 1024:
        counts = np.bincount(combined)
        there = np.flatnonzero(counts)
        return there, counts[there]
    return np.unique(combined, return_counts=True)


def _coded(columns: list[pa.ChunkedArray]) -> tuple[np.ndarray, list[str]]:
    """A number for each row, and the key that it stands for, as text; only keys that are there."""
    codes, values = _column(columns[0])
    for column in columns[1:]:
        more, others = _column(column)
        pairs, codes = np.unique(codes * len(others) + more, return_inverse=True)
        values = [f"{values[pair // len(others)]}, {others[pair % len(others)]}" for pair in pairs.tolist()]
    return codes, values


def _column(column: pa.ChunkedArray) -> tuple[np.ndarray, list[str]]:
    encoded = column if pa.types.is_dictionary(column.type) else pc.dictionary_encode(column)
    whole = encoded.unify_dictionaries().combine_chunks()
    if isinstance(whole, pa.ChunkedArray):
        whole = whole.chunk(0) if whole.num_chunks else pa.array([], encoded.type)
    codes = whole.indices.to_numpy()
    there = np.bincount(codes, minlength=len(whole.dictionary)) > 0
    texts = whole.dictionary.filter(pa.array(there)).to_pylist()
    return (np.cumsum(there) - 1)[codes], [_text(one) for one in texts]


def _text(value: object) -> str:
    return value if isinstance(value, str) else str(value).lower() if isinstance(value, bool) else str(value)
