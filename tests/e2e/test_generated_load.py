"""The settings of `generate` that name files and chance: the program and the interpreter make the same tuples."""

from __future__ import annotations

import pytest

from tests.e2e.native import compiled, one_line
from tests.rows import file_difference

PROGRAM = """\
app load
record Tick {{ ts: timestamp<us>, key: symbol, small: u8, x: f64 }}
source ticks: Tick = generate({settings}) event time ts slack 1s
sink out = ticks to csv("out.csv")
"""
RATES = "4\n0 700\n0.5 0\n0.75 3333\n1.5 41\n"
WEIGHTS = "3 0 1.5\n0.25 8\n"

SETTINGS = ('rates: "rates.txt"', 'rates: "rates.txt", arrivals: poisson', "count: 900, rate: 777/s, arrivals: poisson",
            'count: 800, weights: "weights.txt"', 'rates: "rates.txt", arrivals: poisson, disorder: 3ms, seed: 9, '
            'weights: "weights.txt", x: 5.0..6.0')


@pytest.mark.parametrize("settings", SETTINGS)
def test_native_equals_interpreter(dfc, tmp_path, settings):
    (tmp_path / "rates.txt").write_text(RATES)
    (tmp_path / "weights.txt").write_text(WEIGHTS)
    settings += "" if "weights" in settings else ", keys: 200"
    native = compiled(PROGRAM.format(settings=settings), tmp_path)
    assert native.run().returncode == 0
    (tmp_path / "out.csv").rename(tmp_path / "native.csv")
    answer = dfc("run", "--interpret", "program.dfl")
    assert answer.returncode == 0, answer.stderr
    assert not file_difference(tmp_path / "out.csv", tmp_path / "native.csv")
    assert len((tmp_path / "out.csv").read_text().splitlines()) > 700


def test_a_file_that_is_missing_or_wrong_is_named(dfc, tmp_path):
    native = compiled(PROGRAM.format(settings='rates: "rates.txt"'), tmp_path)
    code, line = one_line(native.run())
    assert code == 4 and "rates.txt" in line
    assert "rates.txt" in dfc("run", "--interpret", "program.dfl").stderr
    (tmp_path / "rates.txt").write_text("0 5\nnow 7\n")
    code, line = one_line(native.run())
    assert code in (2, 4) and "line 2" in line
    answer = dfc("run", "--interpret", "program.dfl")
    assert answer.returncode == 4 and "line 2" in answer.stderr


@pytest.mark.parametrize(("settings", "code"), [('rates: "r", rate: 5/s', "E0401"),
                                                ('weights: "w", zipf: 1.0', "E0401"),
                                                ('rates: ""', "E0402"), ('weights: "a,b"', "E0402"),
                                                ("arrivals: soon", "E0402"), ("rates: 5/s", "E0402")])
def test_wrong_settings(dfc, tmp_path, settings, code):
    (tmp_path / "program.dfl").write_text(PROGRAM.format(settings=settings))
    answer = dfc("check", "program.dfl")
    assert answer.returncode == 1 and code in answer.stderr
