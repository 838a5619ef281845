"""The other side of a program's sockets: loopback only, on ports that the system chooses."""

from __future__ import annotations

import re
import socket
import subprocess

from tests.e2e.native import PATIENCE

_LISTENING = re.compile(r"(\w+): listening on (\S+)")


def line_of(process: subprocess.Popen) -> str:
    """The next line on the program's stderr."""
    return process.stderr.readline().decode().rstrip("\n")


def address_of(process: subprocess.Popen, name: str) -> tuple[str, int]:
    """Where the source or sink listens; it must be the next thing that the program says."""
    match = _LISTENING.fullmatch(line_of(process))
    assert match and match[1] == name, match
    host, _, port = match[2].rpartition(":")
    return host, int(port)


class Line:
    """A connection that is written to and read from by lines."""

    def __init__(self, connection: socket.socket):
        connection.settimeout(PATIENCE)
        self.socket = connection
        self._file = connection.makefile("rb")

    def say(self, text: str) -> None:
        self.socket.sendall(text.encode())

    def hear(self, count: int) -> list[str]:
        return [self._file.readline().decode().rstrip("\n") for _ in range(count)]

    def rest(self) -> str:
        return self._file.read().decode()

    def close(self) -> None:
        self._file.close()
        self.socket.close()


def call(address: tuple[str, int] | str) -> Line:
    """Connects to a program: a host and port, or the path of a Unix socket."""
    family = socket.AF_UNIX if isinstance(address, str) else socket.AF_INET
    connection = socket.socket(family)
    connection.settimeout(PATIENCE)
    connection.connect(address)
    return Line(connection)


class Listener:
    """Waits for a program that connects."""

    def __init__(self, port: int = 0):
        self.socket = socket.create_server(("127.0.0.1", port))
        self.socket.settimeout(PATIENCE)
        self.port = self.socket.getsockname()[1]

    def accept(self) -> Line:
        return Line(self.socket.accept()[0])

    def __enter__(self) -> Listener:
        return self

    def __exit__(self, *_) -> None:
        self.socket.close()
