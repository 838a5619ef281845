"""What a run gave: the rows of every sink in their exact order, and the counters of every step."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from ...dsl.types import Record
from .csv_rows import Malformed, format_header, format_row
from .json_rows import format_json


@dataclass(frozen=True, slots=True)
class Counters:
    """Tuples taken in and put out; of sources also late and malformed ones; divisions by zero."""

    taken: int = 0
    given: int = 0
    late: int = 0
    malformed: int = 0
    faults: int = 0


@dataclass(frozen=True, slots=True)
class Results:
    """`rows` and `records` by sink, `counters` by step, `malformed` rows by source."""

    rows: dict[str, list[tuple]]
    records: dict[str, Record]
    counters: dict[str, Counters]
    malformed: dict[str, list[Malformed]]

    def csv_lines(self, sink: str) -> Iterator[str]:
        """The sink's file, line by line without line ends: the header first."""
        yield format_header(self.records[sink])
        for row in self.rows[sink]:
            yield format_row(row, self.records[sink])

    def json_lines(self, sink: str) -> Iterator[str]:
        """The rows as JSON objects, one a line."""
        return (format_json(row, self.records[sink]) for row in self.rows[sink])
