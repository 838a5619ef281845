"""Runs a finished program as if it had been called itself: its input, output and signals are the user's."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Sequence
from pathlib import Path

from dfc.compiler.failure import FAILED, GOOD, INTERRUPTED, USAGE, Failure

FORWARDED = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT, signal.SIGUSR1, signal.SIGUSR2)
_FROM_TERMINAL = 128  # SI_KERNEL: the terminal has told the whole process group, the program already knows


def execute(program: Path, words: Sequence[str]) -> int:
    """Waits for the program and answers dfc's exit code for its ending."""
    watched = {*FORWARDED, signal.SIGCHLD}
    sys.stdout.flush()
    before = signal.pthread_sigmask(signal.SIG_BLOCK, watched)
    try:
        process = os.posix_spawn(program, [str(program), *words], os.environ, setsigmask=before,
                                 setsigdef=[signal.SIGPIPE, signal.SIGXFSZ])
        return exit_code(_wait(process, watched))
    except OSError as error:
        raise Failure(f"can't start the program: {error.strerror}") from None
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _wait(process: int, watched: set[signal.Signals]) -> int:
    while True:
        ended, status = os.waitpid(process, os.WNOHANG)
        if ended:
            return os.waitstatus_to_exitcode(status)
        heard = signal.sigwaitinfo(watched)
        if heard.si_signo != signal.SIGCHLD and heard.si_code != _FROM_TERMINAL:
            os.kill(process, heard.si_signo)


def exit_code(code: int) -> int:
    """0 and wrong usage stay what they are; every other ending is a failed run. Negative: a signal ended it."""
    if code < 0 and -code not in (signal.SIGINT, signal.SIGPIPE):
        print(f"dfc: the program was ended by {signal.Signals(-code).name}", file=sys.stderr)
    return {0: GOOD, 2: USAGE, -signal.SIGINT: INTERRUPTED}.get(code, FAILED)
