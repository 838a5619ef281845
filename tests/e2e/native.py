"""A compiled program as the tests call it: run to its end, or started and talked to through pipes."""

from __future__ import annotations

import os
import select
import subprocess
import sys
import time
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

PATIENCE = 120.0  # seconds: only a hang is as slow as this, also on a machine with other work


@dataclass(frozen=True)
class Native:
    """The program at `path`; it runs in `folder`."""

    path: Path
    folder: Path

    def run(self, *words: object, **options) -> subprocess.CompletedProcess:
        asked = {"capture_output": True, "text": True, "timeout": PATIENCE, "cwd": self.folder, **options}
        return subprocess.run([self.path, *map(str, words)], **asked)

    def start(self, *words: object, **options) -> subprocess.Popen:
        pipes = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
        return subprocess.Popen([self.path, *map(str, words)], **{"cwd": self.folder, **pipes, **options})

    def at(self, folder: Path) -> Native:
        return Native(self.path, folder)


def compiled(text: str, folder: Path, file: str = "program.dfl", *words: str) -> Native:
    """Writes the program, compiles it into `folder`/build; it runs in `folder`."""
    (folder / file).write_text(text)
    command = [sys.executable, "-m", "dfc.compiler.cli", "compile", file, "-o", "build", *words]
    answer = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=PATIENCE)
    assert answer.returncode == 0, answer.stderr
    (path,) = [p for p in (folder / "build").iterdir() if p.is_file() and os.access(p, os.X_OK)]
    return Native(path, folder)


class Talk:
    """Writes rows to a running program and waits for the lines that they release."""

    def __init__(self, process: subprocess.Popen):
        self.process = process
        self._rest = b""

    def say(self, text: str) -> None:
        self.process.stdin.write(text.encode())
        self.process.stdin.flush()

    def hear(self, count: int) -> list[str]:
        """The next lines of standard output, as soon as there are so many."""
        deadline = time.monotonic() + PATIENCE
        while self._rest.count(b"\n") < count:
            ready, _, _ = select.select([self.process.stdout], [], [], max(0.0, deadline - time.monotonic()))
            assert ready, f"only {self._rest!r} came"
            data = os.read(self.process.stdout.fileno(), 1 << 16)
            assert data, f"the program ended after {self._rest!r}: {self.process.stderr.read().decode()}"
            self._rest += data
        lines = self._rest.split(b"\n")
        self._rest = b"\n".join(lines[count:])
        return [line.decode() for line in lines[:count]]

    def end(self) -> list[str]:
        """Closes the input; what was still to come. The program must end well."""
        self.process.stdin.close()
        return self.finish()

    def finish(self) -> list[str]:
        rest = self._rest + self.process.stdout.read()
        error = self.process.stderr.read().decode()
        assert self.process.wait(PATIENCE) == 0, error
        return rest.decode().splitlines()


def wait_until(condition, process: subprocess.Popen | None = None) -> None:
    """Until the condition holds; a program that ends before is a failure."""
    deadline = time.monotonic() + PATIENCE
    while not condition():
        assert process is None or process.poll() is None, "the program ended"
        assert time.monotonic() < deadline, "it never came true"
        time.sleep(0.01)


def one_line(answer: subprocess.CompletedProcess) -> tuple[int, str]:
    """The exit code and the only line on stderr."""
    lines: Iterable[str] = answer.stderr.splitlines()
    (line,) = lines
    return answer.returncode, line
