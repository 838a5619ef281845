"""What dfc predicts for a program by model and by simulation, from costs that it measures on the benchmark's input."""

from __future__ import annotations

import subprocess
from dataclasses import dataclass
from pathlib import Path

from dfc.compiler import pipeline
from dfc.compiler.select.asked import Asked, request_of
from dfc.compiler.select.search import choose_patterns
from dfc.compiler.simulate.program import operator_of
from dfc.compiler.simulate.scalability import play_once
from measuring import BUILD, DFC, HERE, Row, all_cores, in_folder

NEAR = 0.2  # so far off is still good
SEQUENTIAL = "sequential"


@dataclass(frozen=True)
class Predicted:
    """Tuples a second, and nanoseconds of all threads together for a tuple."""

    model: float
    simulated: float
    work: float


def calibrate(row: Row, scale: float) -> Path:
    """The profile of a program."""
    BUILD.mkdir(parents=True, exist_ok=True)
    profile = BUILD / f"{row.program}.profile.json"
    files = [word for source, spec in row.inputs for word in ("--source", f"{source}={in_folder(spec, scale)}")]
    subprocess.run([DFC, "calibrate", text_of(row), "-o", profile, "--", *files], check=True, stdout=subprocess.DEVNULL)
    return profile


def predict(row: Row, operator: str, profile: Path, word: str | None) -> Predicted:
    """The whole program with this pattern of its operator, as `dfc explain --cores --profile --pattern` says it;
    without a word with the one that dfc chooses."""
    file = text_of(row)
    graph = pipeline.flow(pipeline.check(file.read_text(), str(file), {}))
    forced = () if word is None else (f"{operator}={word}",)
    choice = choose_patterns(graph, request_of(graph.program, Asked(1 if word == SEQUENTIAL else all_cores(),
                                                                    str(profile), forced)))
    unit = choice.model.unit(operator)
    pattern = choice.best.patterns[operator].pattern
    played = play_once(operator_of(choice.model, unit), choice.model.machine, pattern)
    return Predicted(choice.best.rate, played.rate / unit.tuples_in, sum(stage.work for stage in choice.best.stages))


def off(predicted: float, measured: float) -> str:
    """By how much a prediction is wrong, marked where that is too much."""
    error = predicted / measured - 1
    return f"{error:+.0%}{'' if abs(error) <= NEAR else ' !'}"


def text_of(row: Row) -> Path:
    return HERE / "programs" / f"{row.program}.dfl"
