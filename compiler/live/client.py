"""One connection to the control socket of a running program: a request is a line, an answer a line of JSON, or, for
`metrics`, text up to the line `# EOF`."""

from __future__ import annotations

import errno
import json
import os
import socket
import stat
import time
from contextlib import contextmanager
from pathlib import Path

from dfc.compiler.failure import Failure, Usage

PATIENCE = 15.0  # seconds; a program answers at once unless the machine is very busy
_BETWEEN = 0.5  # seconds; a program that begins makes the file and listens right after: until then it looks ended
_MOST_PATH = 107  # bytes that the system takes for the path of a socket
_MOST_REQUEST = 4095


class Gone(Failure):
    """The program has ended, or is ending."""


class Refused(Usage):
    """The program has said no; the text is its own."""


class Busy(Failure):
    """The program has not finished the change before; the text is its own."""


class Client:
    """A context manager; `path` is the socket, or a folder with one socket in it."""

    def __init__(self, path: str):
        self.path = find_socket(path)
        self._socket = socket.socket(socket.AF_UNIX)
        self._socket.settimeout(PATIENCE)
        try:
            with _short_path(self.path) as short:
                self._connect(short)
        except OSError as error:
            self._socket.close()
            raise _refusal(self.path, error) from None
        self._file = self._socket.makefile("rb")

    def _connect(self, path: str) -> None:
        """A program with very many callers has them wait, for which a socket with a time limit does not."""
        begun = time.monotonic()
        while True:
            try:
                return self._socket.connect(path)
            except (BlockingIOError, ConnectionRefusedError) as error:
                limit = PATIENCE if isinstance(error, BlockingIOError) else _BETWEEN
                if time.monotonic() - begun > limit:
                    raise
                time.sleep(0.05)

    def __enter__(self) -> Client:
        return self

    def __exit__(self, *_) -> None:
        self._file.close()
        self._socket.close()

    def ask(self, request: str) -> dict:
        """The answer; Refused when the program says that it is not `ok`."""
        line = self._line_of(request)
        try:
            answer = json.loads(line)
        except ValueError:
            raise Failure(f"`{self.path}` does not talk like a program of dfc") from None
        if not isinstance(answer, dict) or "ok" not in answer:
            raise Failure(f"`{self.path}` does not talk like a program of dfc")
        if not answer["ok"]:
            raise (Busy if answer.get("again") else Refused)(printable(str(answer.get("error", "it was refused"))))
        return answer

    def metrics(self) -> str:
        lines = [self._line_of("metrics")]
        while lines[-1] != "# EOF\n":
            lines.append(self._read())
        return "".join(lines[:-1])

    def _line_of(self, request: str) -> str:
        data = request.encode()
        if len(data) > _MOST_REQUEST or printable(request) != request:
            raise Usage(f"a request is one line of text of at most {_MOST_REQUEST} bytes")
        try:
            self._socket.sendall(data + b"\n")
        except OSError:
            raise Gone("the program has ended") from None
        return self._read()

    def _read(self) -> str:
        try:
            line = self._file.readline()
        except TimeoutError:
            raise Failure(f"the program has not answered for {PATIENCE:.0f} seconds") from None
        except OSError:
            line = b""
        if not line.endswith(b"\n"):
            raise Gone("the program has ended")
        return line.decode(errors="replace")


def find_socket(path: str) -> str:
    """The socket at the path, or the only one in that folder."""
    if not os.path.isdir(path):
        return path
    found = sorted(entry.path for entry in os.scandir(path) if stat.S_ISSOCK(entry.stat(follow_symlinks=False).st_mode))
    if len(found) == 1:
        return found[0]
    names = ", ".join(map(os.path.basename, found))
    what = f"several sockets: {names}" if found else "no socket of a running program"
    raise Usage(f"the folder `{path}` has {what}")


@contextmanager
def _short_path(path: str):
    """The system takes only so many bytes: a longer path goes by way of its folder's descriptor."""
    if len(os.fsencode(path)) <= _MOST_PATH:
        yield path
        return
    folder = os.open(Path(path).parent, os.O_RDONLY | os.O_DIRECTORY)
    try:
        yield f"/proc/self/fd/{folder}/{Path(path).name}"
    finally:
        os.close(folder)


def _refusal(path: str, error: OSError) -> Failure:
    if error.errno == errno.ENOENT:
        return Failure(f"there is no socket `{path}`: the program is not running, or was started with another --socket")
    if error.errno == errno.ECONNREFUSED and stat.S_ISSOCK(os.lstat(path).st_mode):
        return Gone(f"nobody listens on `{path}`: the program that made it has ended")
    if error.errno in (errno.ECONNREFUSED, errno.ENOTSOCK):
        return Usage(f"`{path}` is no socket of a running program")
    if error.errno in (errno.EACCES, errno.EPERM):
        return Failure(f"`{path}` may only be used by whoever started the program")
    return Failure(f"`{path}`: {error.strerror or error}")


def printable(text: str) -> str:
    """Without anything that a terminal would act on."""
    return "".join(c if c >= " " and c != "\x7f" and not "\x80" <= c <= "\x9f" else "�" for c in text)
