"""`dfc top`: a running program, live in the terminal; one snapshot where there is no terminal."""

from __future__ import annotations

import sys
from argparse import Namespace

from dfc.compiler.failure import GOOD
from dfc.compiler.live.client import Client, Gone
from dfc.compiler.live.screen import History, screen, snapshot
from dfc.compiler.live.terminal import Terminal

from .report import wants_colour


def run(args: Namespace) -> int:
    with Client(args.socket) as client:
        if args.once or not sys.stdout.isatty():
            sys.stdout.write(snapshot(client.ask("status")["status"], History()))
            return GOOD
        return _watch(client, args.interval)


def _watch(client: Client, interval: float) -> int:
    """Until a key is pressed or the program ends; then the last picture stays on the screen."""
    history, status, ended = History(), None, False
    with Terminal(sys.stdout) as terminal:
        try:
            while not terminal.asked_to_leave:
                status = client.ask("status")["status"]
                history.add(status)
                terminal.show(screen(status, history, *terminal.size, colour=wants_colour(sys.stdout)))
                terminal.wait(interval)
        except Gone:
            ended = True
    if status is not None:
        sys.stdout.write(snapshot(status, history, terminal.size[0]))
    if ended:
        sys.stdout.write("the program has ended\n")
    return GOOD
