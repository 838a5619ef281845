"""The page: complete in itself, well formed whatever the log says, and showing what happened."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from xml.etree import ElementTree

import pytest
from dfc.compiler.report.chart import PICTURE, decades, thinned, ticks, time_step
from dfc.compiler.report.curves import curves
from dfc.compiler.report.log import read_log, read_runs
from dfc.compiler.report.page import page
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.compiler.report import logs

HOSTILE = '<script>alert("1")</script>&\x00\x1b[2J\ud800]]>'
SVG = "{http://www.w3.org/2000/svg}"
VOID = {"meta", "br"}


class Balanced(HTMLParser):
    """Every element that opens closes, in order."""

    def __init__(self, text: str):
        super().__init__()
        self.open: list[str] = []
        self.words: list[str] = []
        self.seen: set[str] = set()
        self.feed(text)
        self.close()
        assert not self.open

    def handle_starttag(self, tag, attrs):
        self.seen.add(tag)
        assert not {"src", "href", "onload", "onclick"} & {name for name, _ in attrs}
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.seen.add(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.words.append(data)


def run_of(tmp_path: Path, *rows: dict):
    return read_log(logs.write(tmp_path / "decisions.jsonl", *rows))


def check(runs) -> str:
    text = page(runs)
    found = Balanced(text)
    assert "script" not in found.seen and "url(" not in text and "@import" not in text
    for part in re.findall(r"<svg.*?</svg>", text, flags=re.DOTALL):
        ElementTree.fromstring(part)
    return " ".join(" ".join(found.words).split())


def test_what_happened_is_on_the_page(tmp_path):
    words = check([run_of(tmp_path, *logs.story())])
    for part in ("trading", "latency mean ≤ 7 ms", "1 → 2 workers", "one more worker: 9 ms are expected",
                 "2 → 1 workers", "2 (20 %)", "the input has ended", "goal: mean at most 7 ms", "policy: mpc"):
        assert part in words, part


def test_what_was_told_by_command_is_on_the_page(tmp_path):
    told = logs.event(1.5, "command", "workers predict 2: predict: 2 workers, held until 'workers predict auto'")
    words = check([run_of(tmp_path, logs.start(), logs.step(1), told, logs.step(2, logs.setting(2)))])
    assert "Nothing was changed" not in words and "changes 1" in words
    assert "1 → 2 workers by command: workers predict 2" in words


def test_violations_are_shaded_and_changes_marked(tmp_path):
    picture = ElementTree.fromstring(curves(run_of(tmp_path, *logs.story()), PICTURE))
    shaded = [one for one in picture.iter(f"{SVG}rect") if one.get("fill") == PICTURE.bad]
    assert len(shaded) == 1, "two neighbouring steps are one span"
    told = [one.text for one in picture.iter(f"{SVG}title")]
    (words,) = [words for words in told if "one worker is enough" in words]
    assert words == "8 s  predict: 2 → 1 workers\none worker is enough"
    assert "var(" not in curves(run_of(tmp_path, *logs.story()), PICTURE)


def test_alternates_have_bands(tmp_path):
    rows = [logs.start(), *(logs.step(n, logs.setting(1, "exact" if n < 50 else "quick")) for n in range(1, 100))]
    assert {"exact", "quick"} <= set(re.findall(r">(\w+)</text>", curves(run_of(tmp_path, *rows))))


def test_nothing_in_a_log_becomes_markup(tmp_path):
    rows = [logs.start(app=HOSTILE, version=HOSTILE, configuration={HOSTILE: HOSTILE}),
            logs.step(1, logs.setting(1, HOSTILE), logs.setting(2, "b"), reason=HOSTILE, operator=HOSTILE,
                      policy=HOSTILE, held=HOSTILE), logs.event(1.0, HOSTILE, HOSTILE)]
    run = run_of(tmp_path, *rows)
    run.name = HOSTILE
    assert "<script" not in page([run, run])
    assert '<script>alert("1")' in check([run, run])


def test_runs_side_by_side(tmp_path):
    for name in ("mpc", "rule"):
        logs.write(tmp_path / name / "decisions.jsonl", *logs.story())
    words = check(read_runs(str(tmp_path)))
    assert "report of 2 runs" in words and "All runs" in words


def test_a_log_without_anything(tmp_path):
    assert "No operator" in check([run_of(tmp_path, logs.start())])
    assert "Nothing was changed" in check([run_of(tmp_path, logs.start(), logs.step(1))])


NUMBERS = st.one_of(st.none(), st.floats(0, 1e12), st.sampled_from([0.0, 1e-300, 1e300, -1.0, 5e-9]))


@settings(max_examples=60, deadline=None)
@given(values=st.lists(st.tuples(NUMBERS, NUMBERS, st.integers(1, 300)), max_size=30), goal=NUMBERS,
       quantile=st.sampled_from([None, 0.5, 0.75, 0.999, 0.9999]))
def test_any_numbers_give_a_page(tmp_path_factory, values, goal, quantile):
    rows = [logs.start(goals={**logs.GOALS, "latency": goal, "quantile": quantile})]
    for number, (latency, rate, workers) in enumerate(values, 1):
        rows += [logs.program(number, latency, rate, power=rate, frequency=latency),
                 logs.step(number, logs.setting(workers), logs.setting(workers + 1), latency, forecast=rate)]
    text = check([run_of(tmp_path_factory.mktemp("log"), *rows)])
    assert "nan" not in re.sub(r"[A-Za-z]nan|nan[A-Za-z]", "", text).lower()


@given(top=st.floats(1e-9, 1e15), whole=st.booleans())
def test_ticks_are_few_and_inside(top, whole):
    found = ticks(top, 4, whole)
    assert found[0] == 0 and 1 <= len(found) <= 6 and found[-1] <= top * 1.001
    assert not whole or all(value == int(value) for value in found)


@given(bottom=st.floats(1e-9, 1e3), spread=st.floats(30, 1e9))
def test_decades_are_few_and_inside(bottom, spread):
    found = decades(bottom, bottom * spread)
    assert 1 <= len(found) <= 13 and all(bottom * 0.99 <= value <= bottom * spread * 1.01 for value in found)


@given(st.floats(0.01, 1e8))
def test_the_axis_of_time_has_room_for_its_words(end):
    assert end / time_step(end) <= 11.001


def test_thinning_keeps_the_peaks():
    points = [(float(x), 100.0 if x == 5003 else 1.0) for x in range(10000)]
    found = thinned(points, 100)
    assert len(found) <= 110 and (5003.0, 100.0) in found and found == sorted(found)


def dfc(*words: str, cwd: Path) -> subprocess.CompletedProcess:
    return subprocess.run([sys.executable, "-m", "dfc.compiler.cli", *words], cwd=cwd, capture_output=True, text=True)


def test_the_command(tmp_path):
    logs.write(tmp_path / "run" / "decisions.jsonl", *logs.story())
    answer = dfc("report", "run", "--picture", "curves.svg", cwd=tmp_path)
    assert answer.returncode == 0, answer.stderr
    assert "steps above the goal   2 (20 %)" in answer.stdout and answer.stdout.endswith("run/report.html\n")
    ElementTree.parse(tmp_path / "curves.svg")
    Balanced((tmp_path / "run" / "report.html").read_text())
    (found,) = json.loads(dfc("report", "run", "--json", "-o", "other.html", cwd=tmp_path).stdout)
    assert (found["operator"], found["violations"], found["power"]) == ("predict", 2, None)
    assert (tmp_path / "other.html").exists()
    wrong = dfc("report", "run", "--picture", "curves.png", cwd=tmp_path)
    assert wrong.returncode == 2 and "`curves.png` does not end in .svg" in wrong.stderr
    assert not (tmp_path / "curves.png").exists()


@pytest.mark.parametrize(("words", "code", "said"), [
    (("none",), 2, "there is no `none`"), ((".",), 2, "has no decision log"),
    (("run", "-o", "no/such/page.html"), 4, "can't write `no/such/page.html`")])
def test_the_command_says_what_is_wrong(tmp_path, words, code, said):
    logs.write(tmp_path / "run" / "deep" / "decisions.jsonl", *logs.story())
    answer = dfc("report", *words, cwd=tmp_path)
    assert (answer.returncode, answer.stderr.count("\n")) == (code, 1) and said in answer.stderr
