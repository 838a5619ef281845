"""The examples: each is well formed, runs on a little generated data, equals the interpreter, and can be drawn."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import xml.etree.ElementTree as xml
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.rows import file_difference

ROOT = Path(__file__).parents[2]
EXAMPLES = ROOT / "examples"


@dataclass(frozen=True)
class Example:
    """`generate` are the words that make little data, `sinks` the files that the program writes."""

    name: str
    generate: tuple[str, ...]
    sinks: tuple[str, ...]
    draw: tuple[str, ...]

    def path(self, file: str) -> Path:
        return EXAMPLES / self.name / file

    @property
    def program(self) -> Path:
        return self.path(f"{self.name}.dfl")


ALL = (
    Example("trading", ("--count", "6000", "--damaged", "3", "--output", "quotes.csv"), ("forecasts",),
            ("forecasts.csv", "--last", "30")),
    Example("word_count", ("--count", "800"), ("counts", "top"), ()),
    Example("sensors", ("--minutes", "12", "--devices", "3"),
            ("minutes", "outages", "alarms", "explained", "late"), ()),
    Example("linear_road", ("--seconds", "60", "--rate", "20"), ("notices", "balances", "travel"), ()),
    Example("skyline", ("--count", "4000", "--rate", "2000"), ("found",), ("found.csv",)),
)
APART = {"full_loop": "tests/spark/test_full_loop.py"}  # it needs Spark, and makes its data on the way
examples = pytest.mark.parametrize("example", ALL, ids=[example.name for example in ALL])


def python(script: Path, *words: object, cwd: Path) -> subprocess.CompletedProcess[str]:
    """Without site packages: what is generated and drawn needs the standard library only."""
    quiet = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1"}
    return subprocess.run([sys.executable, "-S", script, *map(str, words)], cwd=cwd, check=True, capture_output=True,
                          text=True, env=quiet)


@pytest.fixture
def data(example, tmp_path) -> Path:
    python(example.path("generate.py"), *example.generate, cwd=tmp_path)
    return tmp_path


def test_there_is_an_entry_for_every_example():
    assert {*APART, *(example.name for example in ALL)} == {path.parent.name for path in EXAMPLES.glob("*/*.dfl")}
    assert all((ROOT / test).is_file() for test in APART.values())


@examples
def test_native_equals_interpreter(dfc, example, data):
    """With one worker and with several; every sink has rows. No controller: on a slow machine it might go to another
    alternate than the interpreter."""
    answer = dfc("run", "--interpret", example.program)
    assert answer.returncode == 0, answer.stderr
    expected = data / "expected"
    expected.mkdir()
    for sink in example.sinks:
        (data / f"{sink}.csv").rename(expected / f"{sink}.csv")
        assert len((expected / f"{sink}.csv").read_text().splitlines()) > 1, sink
    for workers in (1, 3):
        answer = dfc("run", example.program, "--workers", workers, "--", "--control", "off")
        assert answer.returncode == 0, answer.stderr
        for sink in example.sinks:
            assert not file_difference(expected / f"{sink}.csv", data / f"{sink}.csv"), f"{workers} workers"


@examples
def test_results_can_be_drawn_and_summarised(dfc, example, data):
    assert dfc("run", example.program, "--", "--stats=stats.json").returncode == 0
    python(example.path("picture.py"), *example.draw, "--output", "picture.svg", cwd=data)
    assert xml.parse(data / "picture.svg").getroot().tag.endswith("svg")
    said = python(EXAMPLES / "summary.py", "stats.json", cwd=data).stdout
    assert f"{json.loads((data / 'stats.json').read_text())['in']:,}" in said


@examples
def test_generators_repeat_themselves(example, data, tmp_path_factory):
    again = tmp_path_factory.mktemp("again")
    python(example.path("generate.py"), *example.generate, cwd=again)
    assert {path.name: path.read_bytes() for path in again.iterdir()} == \
        {path.name: path.read_bytes() for path in data.iterdir()}


@examples
def test_programs_are_in_standard_form(dfc, example):
    assert dfc("fmt", "--check", example.program).stderr == ""


@examples
def test_pictures_in_the_readme_are_there(example):
    text = example.path("README.md").read_text(encoding="utf-8")
    named = [part.split(")")[0] for part in text.split("](")[1:]]
    assert "graph.svg" in named and len([name for name in named if name.endswith(".svg")]) >= 2
    assert not [name for name in named if not example.path(name).exists()]


def test_the_alternates_of_trading_agree_on_the_candlesticks(dfc, tmp_path):
    """They differ in the forecast only."""
    python(ALL[0].path("generate.py"), *ALL[0].generate, cwd=tmp_path)
    tables = []
    for alternate in ("regression", "average"):
        words = ("--control", "off", "--alternate", f"predict={alternate}")
        assert dfc("run", ALL[0].program, "--", *words).returncode == 0
        rows = [line.split(",") for line in (tmp_path / "forecasts.csv").read_text().splitlines()]
        tables.append(([row[:6] for row in rows], [row[6:] for row in rows]))
    assert tables[0][0] == tables[1][0] and tables[0][1] != tables[1][1]
