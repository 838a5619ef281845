"""dfc as it is installed elsewhere: the wheel holds everything a compilation needs."""

from __future__ import annotations

import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
BROUGHT_ALONG = (("dsl", ".lark"), ("runtime_c/include", ".h"), ("runtime_c/src", ".c"), ("runtime_c/src", ".h"),
                 ("runtime_c/control", ".c"), ("stdlib", ".dfl"), ("compiler", ".j2"), ("compiler", ".py"))


@pytest.mark.slow
def test_the_wheel_is_complete(tmp_path):
    copy = tmp_path / "dfc"
    subprocess.run(["git", "clone", "-q", ROOT, copy], check=True)
    subprocess.run([sys.executable, "-m", "pip", "wheel", "-q", "--no-deps", "-w", tmp_path, copy], check=True)
    (wheel,) = tmp_path.glob("*.whl")
    held = set(zipfile.ZipFile(wheel).namelist())
    for folder, ending in BROUGHT_ALONG:
        needed = {f"dfc/{path.relative_to(copy)}" for path in (copy / folder).rglob(f"*{ending}")
                  if path.relative_to(copy).parts[:2] != ("compiler", "api")}
        assert needed <= held, sorted(needed - held)
    assert "dfc/__init__.py" in held
