"""The folder that a stream goes on from: what Spark keeps, which program it is of, and whether the stream has ended."""

from __future__ import annotations

import hashlib
import json
import os
from dataclasses import dataclass
from pathlib import Path

from dfc.compiler.failure import Failure

_ABOUT, _VERSION = "dfc.json", 1


@dataclass(frozen=True)
class Checkpoint:
    """`slots` is how many instances of the program share the keys; it stays as it was when the stream began."""

    folder: Path
    slots: int
    ended: bool

    @property
    def spark(self) -> str:
        return str(self.folder / "spark")

    @property
    def control(self) -> Path:
        """A folder that is a source of the stream, too: a file in it says that the stream ends."""
        return self.folder / "control"

    def say_end(self) -> None:
        _write(self.control / "end", "end\n")

    def mark_ended(self) -> None:
        about = json.loads((self.folder / _ABOUT).read_text(encoding="utf-8"))
        _write(self.folder / _ABOUT, json.dumps(about | {"ended": True}, indent=2) + "\n")


def program_of(text: str, alternates: list[tuple[str, str]]) -> str:
    """Saved state belongs to the generated C, and to the alternates that were chosen."""
    return hashlib.sha256(json.dumps([text, sorted(alternates)]).encode()).hexdigest()


def open_checkpoint(folder: Path, program: str, slots: int) -> Checkpoint:
    """The stream that the folder is of, or a new one. Raises Failure when it is of another program, or has ended."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        about = _about(folder)
        if about is None:
            about = {"version": _VERSION, "program": program, "slots": slots, "ended": False}
            _write(folder / _ABOUT, json.dumps(about, indent=2) + "\n")
        (folder / "control").mkdir(exist_ok=True)
    except OSError as error:
        raise Failure(f"cannot use the checkpoint '{folder}': {error.strerror}") from None
    if about["program"] != program:
        raise Failure(f"the checkpoint '{folder}' is of another program, of other alternates or of another version of "
                      "dfc: take another --checkpoint")
    if about["ended"]:
        raise Failure(f"the stream of the checkpoint '{folder}' has ended: take another --checkpoint")
    return Checkpoint(folder, about["slots"], about["ended"])


def _about(folder: Path) -> dict | None:
    path = folder / _ABOUT
    if not path.exists():
        if any(folder.iterdir()):
            raise Failure(f"the folder '{folder}' is no checkpoint of dfc, and it is not empty")
        return None
    try:
        about = json.loads(path.read_text(encoding="utf-8"))
        fits = about["version"] == _VERSION and isinstance(about["program"], str) and \
            isinstance(about["slots"], int) and about["slots"] > 0 and isinstance(about["ended"], bool)
    except (ValueError, KeyError, TypeError):
        fits = False
    if not fits:
        raise Failure(f"'{path}' is damaged, or of another version of dfc: take another --checkpoint")
    return about


def _write(path: Path, text: str) -> None:
    part = path.with_name(f".{path.name}.{os.getpid()}.part")
    part.write_text(text, encoding="utf-8")
    os.replace(part, path)
