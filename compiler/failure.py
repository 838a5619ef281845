"""What ends a command early with one line: each kind has its exit code."""

from __future__ import annotations

GOOD, WRONG, USAGE, MISSING, FAILED, INTERRUPTED, PIPE_CLOSED = 0, 1, 2, 3, 4, 130, 141


class Failure(Exception):
    """The message is the one line that the user reads."""

    exit_code = FAILED


class Wrong(Failure):
    """The program is wrong in a way that has no line to show."""

    exit_code = WRONG


class Usage(Failure):
    """The command was called with words that can't be followed."""

    exit_code = USAGE


class Missing(Failure):
    """Something that this machine should have is not there."""

    exit_code = MISSING
