"""`dfc.load`: from a program's text to an object that runs it on arrays."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

import numpy as np

from ..artifacts.interface import Interface
from .columns import BadData, Intake
from .instance import Clock, Stream, merged, one_by_one
from .layout import record_dtype
from .library import Library, open_library
from .rows import Rows
from .strings import BadString, interned


def load(text: str, file: str, params: Mapping[str, str], workers: int, target: str,
         alternates: Mapping[str, str], clock: Clock | None = None) -> Program:
    from .. import pipeline
    from ..build.embeddable import compile_embeddable, library_names
    from ..build.toolchain import require_target

    require_target(target)
    bundle = pipeline.generate(text, file, params, embed=True)
    folder = compile_embeddable(bundle, target, sanitize=False)
    library = open_library(folder / library_names(bundle.app)[1], bundle.interface)
    return Program(library, bundle.interface, workers, alternates, clock)


class Program:
    """A compiled program in this process. Any number of threads may run it at once."""

    def __init__(self, library: Library, interface: Interface, workers: int, alternates: Mapping[str, str],
                 clock: Clock | None = None):
        if not isinstance(workers, int) or not 1 <= workers <= 256:
            raise BadData(f"workers: expected a number from 1 to 256, got {workers!r}")
        self._library, self._interface = library, interface
        self._intakes = {port.name: Intake(library, port) for port in interface.sources}
        self.workers, self.alternates, self.clock = workers, dict(alternates), clock
        self.open().close()  # says at once what is wrong with them

    @property
    def name(self) -> str:
        return self._interface.app

    @property
    def sources(self) -> tuple[str, ...]:
        return tuple(port.name for port in self._interface.sources)

    @property
    def sinks(self) -> tuple[str, ...]:
        return tuple(port.name for port in self._interface.sinks)

    def dtype(self, name: str) -> np.dtype:
        """The dtype of a source or sink. An array that has a source's dtype is not copied."""
        for port in (*self._interface.sources, *self._interface.sinks):
            if port.name == name:
                return record_dtype(port, self._library.ffi)
        raise BadData(f"there is no source or sink `{name}`; expected {', '.join((*self.sources, *self.sinks))}")

    def symbols(self, texts: Iterable[str]) -> np.ndarray:
        """The numbers that stand for these texts in symbol fields, as uint32."""
        try:
            return interned(self._library, texts)
        except BadString as bad:
            raise BadData("expected {}, got {}".format(*bad.args)) from None

    def run(self, sources: Mapping[str, object] | None = None, /, *, arrow: bool = False, clock: Clock | None = None,
            **named: object) -> dict:
        """All sources to their ends; the results of every sink. Each source is an array, a mapping of columns, an
        Arrow table, or an iterable of them, given by its name or in the mapping `sources`. `clock` is (start, step):
        the processing time of the first tuple, and from each to the next, in nanoseconds."""
        inputs = self._inputs(merged(sources, named))
        with self.open(clock) as stream:
            for _ in stream.feed(inputs):
                pass
            results = stream.drain()
        return {name: rows.to_arrow() for name, rows in results.items()} if arrow else results

    def stream(self, sources: Mapping[str, object] | None = None, /, *, clock: Clock | None = None,
               **named: object) -> Iterator[tuple[str, Rows]]:
        """As `run`, but (sink, rows) as they come: after every batch what is there, then the rest."""
        return self._stream(self._inputs(merged(sources, named)), clock)

    def _stream(self, inputs: dict[str, Iterator[object]], clock: Clock | None) -> Iterator[tuple[str, Rows]]:
        with self.open(clock) as stream:
            for _ in stream.feed(inputs):
                yield from _some(stream.poll())
            yield from _some(stream.drain())

    def open(self, clock: Clock | None = None) -> Stream:
        """An instance to push to and to ask: `with program.open() as stream: stream.push(quotes=batch)`."""
        stream = Stream(self._library, self._interface, self._intakes, self.workers, clock or self.clock)
        for operator, alternate in self.alternates.items():
            stream.set_alternate(operator, alternate)
        return stream

    def _inputs(self, sources: Mapping[str, object]) -> dict[str, Iterator[object]]:
        unknown = [name for name in sources if name not in self._intakes]
        missing = [name for name in self._intakes if name not in sources]
        if unknown:
            raise BadData(f"there is no source `{unknown[0]}`; expected {', '.join(self._intakes)}")
        if missing:
            raise BadData(f"source `{missing[0]}` is missing; expected {', '.join(self._intakes)}, by name or in a "
                          f'mapping: run({{"{missing[0]}": …}})')
        return {name: one_by_one(data) for name, data in sources.items()}


def _some(results: dict[str, Rows]) -> Iterator[tuple[str, Rows]]:
    return ((name, rows) for name, rows in results.items() if len(rows))
