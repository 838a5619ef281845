"""The sinks of a stream: a folder each, a file for every micro-batch that has results. A file is there whole or not,
and a micro-batch that is done again after a failure writes the same file again: every result is there once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from dfc.compiler.failure import Failure, Usage

from .executor import Library
from .outputs import FILES, Outputs

_PLACE = [(name, "ascending") for name in ("order", "source", "index", "task", "seq")]
_SUFFIX = {"csv": "csv", "jsonl": "jsonl", "binary": "bin"}


def batch_name(kind: str, batch: int) -> str:
    """Of the file with the results of a micro-batch."""
    return f"batch-{batch:012d}.{_SUFFIX[kind]}"


class StreamOutputs:
    def __init__(self, library: Library, names: Sequence[str], specs: Sequence[str]):
        self.library, self.names = library, names
        self.kinds = [self._kind(name, spec) for name, spec in zip(names, specs, strict=True)]

    def _kind(self, name: str, spec: str) -> tuple[str, Path | None]:
        kind, _, path = spec.partition(":")
        if kind == "discard" or kind in FILES and path == "-":
            return kind, None
        if kind not in FILES:
            raise Usage(f"sink `{name}` ({spec}) is no file: with --stream there are csv, jsonl, binary and discard")
        folder = Path(path)
        if folder.exists() and not folder.is_dir():
            raise Failure(f"sink `{name}`: '{path}' is a file; with --stream a sink is a folder with a file for each "
                          "micro-batch")
        return kind, folder

    def prepare(self) -> None:
        for name, (_, folder) in zip(self.names, self.kinds, strict=True):
            try:
                if folder is not None:
                    folder.mkdir(parents=True, exist_ok=True)
            except OSError as error:
                raise Failure(f"sink `{name}`: cannot make the folder '{folder}': {error.strerror}") from None

    def write(self, batch: int, results: Mapping[int, object]) -> None:
        """The results of a micro-batch, by sink, as tables."""
        specs = [self._spec(number, batch) if number in results else "discard:"
                 for number in range(len(self.names))]
        with Outputs(self.library, self.names, specs) as outputs:
            for number, table in results.items():
                for part in table.sort_by(_PLACE).select(["row"]).combine_chunks().to_batches():
                    outputs.write(number, part)
            outputs.done()

    def _spec(self, number: int, batch: int) -> str:
        kind, folder = self.kinds[number]
        if folder is None:
            return "discard:" if kind == "discard" else f"{kind}:-"
        return f"{kind}:{folder / batch_name(kind, batch)}"
