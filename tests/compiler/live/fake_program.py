"""The control socket of a program that is not there: answers from a table, on a thread."""

from __future__ import annotations

import json
import socket
import threading
from pathlib import Path


def operator(name: str = "predict", **more) -> dict:
    return {"name": name, "policy": "mpc", "workers": 2, "workers_least": 1, "workers_most": 4, "alternate": "exact",
            "alternates": ["exact", "quick"], "rate": 480.0, "results": 480.0, "service": 0.0042, "utilisation": 0.71,
            "imbalance": 1.1, "backlog": 12.0, "waiting": 0.001, "blocked": 0.0, "forecast": 495.0, "error": 0.05,
            "shed": 0.0, "fell_back": False, "workers_held": False, "alternate_held": False, "triggers": 9000,
            "total_results": 9000, "changes": 1, "reason": "two workers keep the goal", **more}


def change(**more) -> dict:
    setting = {"workers": 1, "frequency": 0, "alternate": "exact", "shed": 0.0}
    return {"uptime": 63.0, "operator": "predict", "before": setting, "after": {**setting, "workers": 2}, "acted": True,
            "reason": "9 ms are expected of one", **more}


def status(**more) -> dict:
    latency = {"count": 480, "mean": 0.005, "p50": 0.004, "p90": 0.006, "p95": 0.0065, "p99": 0.01, "p999": 0.02,
               "max": 0.03}
    goals = {"latency": 0.007, "quantile": None, "throughput": None, "value": None, "minimize": "cores"}
    return {"app": "trading", "version": "1 abc", "layout": "staged", "configuration": None, "controlled": True,
            "shadow": False, "draining": False, "control_steps": 133, "tuples": 1_200_000, "results": 48_000, "late": 0,
            "malformed": 0, "faults": 0, "shed": 0, "uptime": 133.0, "step": 1.0, "rate": 12_300.0, "frequency": None,
            "power": None, "power_is_measured": False, "latency": latency, "goals": goals, "operators": [operator()],
            "changes": [change()], "steps": [], **more}


class FakeProgram:
    """A context manager. `answers`: by request, what is sent back: an object, or text as it is."""

    def __init__(self, path: Path, answers: dict[str, dict | str]):
        self.heard: list[str] = []
        self._answers = answers
        self._listener = socket.socket(socket.AF_UNIX)
        self._listener.bind(str(path))
        self._listener.listen()
        threading.Thread(target=self._serve, daemon=True).start()

    def __enter__(self) -> FakeProgram:
        return self

    def __exit__(self, *_) -> None:
        self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()

    def _serve(self) -> None:
        while True:
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            with connection, connection.makefile("rw", encoding="utf-8", newline="\n") as lines:
                for line in lines:
                    self.heard.append(line.rstrip("\n"))
                    answer = self._answers.get(self.heard[-1], {"ok": False, "error": f"what is '{self.heard[-1]}'?"})
                    if answer == "hang up":
                        break
                    lines.write(answer if isinstance(answer, str) else json.dumps(answer) + "\n")
                    lines.flush()
