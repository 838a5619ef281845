"""What all tests share: the `dfc` command as a function, with a build cache of the tests' own."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import settings

ROOT = Path(__file__).parents[1]

# How long an example takes says how busy the machine is, nothing else.
settings.register_profile("untimed", deadline=None)
settings.load_profile("untimed")


@pytest.fixture(scope="session", autouse=True)
def shared_cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One cache for all workers of a run: what one has built the others take. Never the user's own."""
    folder = tmp_path_factory.getbasetemp()
    if os.environ.get("PYTEST_XDIST_WORKER"):
        folder = folder.parent
    os.environ["XDG_CACHE_HOME"] = str(folder / "cache")
    return folder / "cache"


@pytest.fixture
def dfc(tmp_path: Path) -> Callable[..., subprocess.CompletedProcess[str]]:
    """`dfc("run", "app.dfl")` in the test's own folder; the answer has returncode, stdout and stderr."""

    def call(*words: object, cwd: Path = tmp_path, **options) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "dfc.compiler.cli", *map(str, words)]
        return subprocess.run(command, cwd=cwd, **{"capture_output": True, "text": True, "timeout": 300, **options})

    return call
