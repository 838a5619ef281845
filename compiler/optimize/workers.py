"""Runs played on this machine, in processes of their own: what is done without Spark."""

from __future__ import annotations

import multiprocessing
import os
import signal
from collections.abc import Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from typing import Any

from ..interrupts import uninterrupted
from ..simulate.control_library import open_controls
from ..simulate.task import play_candidate

_scene: Mapping[str, Any] = {}


class Workers:
    """One process a core; with one core there are none."""

    def __init__(self, scene: Mapping[str, Any], processes: int = 0):
        self.scene, self.processes = scene, processes or len(os.sched_getaffinity(0))
        self._pool: ProcessPoolExecutor | None = None

    def __enter__(self) -> Workers:
        open_controls()  # built once, before many want it
        if self.processes > 1:  # spawned: a forked child would inherit threads and locks
            spawning = multiprocessing.get_context("spawn")
            self._pool = ProcessPoolExecutor(self.processes, spawning, _begin, (self.scene,))
        return self

    def __exit__(self, *failure: object) -> None:
        if self._pool is None:
            return
        children = multiprocessing.active_children()
        self._pool.shutdown(wait=failure[0] is None, cancel_futures=True)
        for child in children if failure[0] is not None else ():
            child.terminate()

    def play(self, runs: Sequence[tuple[Mapping[str, Any], int]]) -> list[dict[str, float]]:
        if self._pool is None:
            return [play_candidate(self.scene, candidate, seed, open_controls()) for candidate, seed in runs]
        with uninterrupted():
            played = self._pool.map(_play, runs)  # which starts them
        return list(played)


def _begin(scene: Mapping[str, Any]) -> None:
    """Ctrl-C reaches the children of a terminal as well; the parent speaks for all."""
    global _scene
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    _scene = scene


def _play(run: tuple[Mapping[str, Any], int]) -> dict[str, float]:
    return play_candidate(_scene, *run, open_controls())
