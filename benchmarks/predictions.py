"""What dfc predicts for a program, from costs that it measures on the benchmark's own input."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

from measuring import BUILD, DFC, HERE, Row, in_folder


def calibrate(row: Row, scale: float) -> Path:
    """The profile of a program."""
    profile = BUILD / f"{row.program}.profile.json"
    files = [word for source, spec in row.inputs for word in ("--source", f"{source}={in_folder(spec, scale)}")]
    subprocess.run([DFC, "calibrate", text_of(row), "-o", profile, "--", *files], check=True, stdout=subprocess.DEVNULL)
    return profile


def predicted_rate(row: Row, profile: Path, *words: str) -> float:
    """Tuples a second on two cores."""
    command = [DFC, "explain", text_of(row), "--cores", "2", "--profile", profile, "--json", *words]
    said = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    return said["patterns"]["predicted"]["rate"]


def text_of(row: Row) -> Path:
    return HERE / "programs" / f"{row.program}.dfl"
