"""What dfc predicts for a program by model and by simulation, from costs that it measures on the benchmark's input."""

from __future__ import annotations

import statistics
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from dfc.compiler import pipeline
from dfc.compiler.select.asked import Asked, request_of
from dfc.compiler.select.compose import FUSED
from dfc.compiler.select.search import Choice, choose_patterns
from dfc.compiler.simulate.program import operator_of
from dfc.compiler.simulate.scalability import play_once
from measuring import BUILD, DFC, HERE, Row, all_cores, in_folder

NEAR = 0.2  # so far off is still good
SEQUENTIAL = "sequential"


@dataclass(frozen=True)
class Predicted:
    """Tuples a second."""

    model: float
    simulated: float


def profile_of(row: Row) -> Path:
    return BUILD / f"{row.program}.profile.json"


def calibrate(row: Row, scale: float) -> Path:
    """The profile of a program."""
    BUILD.mkdir(parents=True, exist_ok=True)
    profile = profile_of(row)
    files = [word for source, spec in row.inputs for word in ("--source", f"{source}={in_folder(spec, scale)}")]
    subprocess.run([DFC, "calibrate", text_of(row), "-o", profile, "--", *files], check=True, stdout=subprocess.DEVNULL)
    return profile


def planned_word(row: Row, operator: str, profile: Path) -> str | None:
    """What `predict` takes for the program that is planned with this profile, when it is predicted from others."""
    return SEQUENTIAL if chosen(row, operator, profile, None).best.layout == FUSED else None


def predict(row: Row, operator: str, profile: Path, word: str | None) -> Predicted:
    choice = chosen(row, operator, profile, word)
    unit, pattern = choice.model.unit(operator), choice.best.patterns[operator].pattern
    apart = pattern.name == SEQUENTIAL and choice.best.layout != FUSED
    played = play_once(operator_of(choice.model, unit), choice.model.machine, pattern, apart=apart)
    return Predicted(choice.best.rate, played.rate / unit.tuples_in)


def chosen(row: Row, operator: str, profile: Path, word: str | None) -> Choice:
    """The whole program with this pattern of its operator, as `dfc explain --cores --profile --pattern` says it;
    without a word with the one that dfc chooses."""
    file = text_of(row)
    graph = pipeline.flow(pipeline.check(file.read_text(), str(file), {}))
    forced = () if word is None else (f"{operator}={word}",)
    cores = 1 if word == SEQUENTIAL else all_cores()
    return choose_patterns(graph, request_of(graph.program, Asked(cores, str(profile), forced)))


def off(predicted: Sequence[float], measured: Sequence[float]) -> str:
    """By how much the median of the predictions is wrong, marked where that is too much."""
    error = statistics.median(predicted) / statistics.median(measured) - 1
    return f"{error:+.0%}{'' if abs(error) <= NEAR else ' !'}"


def text_of(row: Row) -> Path:
    return HERE / "programs" / f"{row.program}.dfl"
