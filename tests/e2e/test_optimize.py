"""`dfc optimize` from outside: plan and page, the program compiled with them, Ctrl-C, and words that can't be."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from html.parser import HTMLParser
from xml.etree import ElementTree

import pytest
from dfc.compiler import pipeline
from dfc.compiler.interpret import run

from tests.compiler.optimize.searched import APP, folder_with, profile_text

pytest.importorskip("numpy")
WORDS = ("optimize", "app.dfl", "--profile", "app.profile.json", "--master", "none", "--budget", "40", "--seeds", "2")


@pytest.fixture
def folder(tmp_path):
    return folder_with(tmp_path)


def test_a_plan_that_is_better_and_compiles(dfc, folder):
    answer = dfc(*WORDS, "--picture", "front.svg")
    assert answer.returncode == 0, answer.stderr
    plan = json.loads((folder / "app.plan.json").read_text())
    old, new = plan["compared"], plan["expected"]
    assert new["violations"] <= old["violations"]
    assert new["violations"] < old["violations"] or new["cores"] < old["cores"]
    assert "recommended" in answer.stdout and "best so far" in answer.stderr
    page = (folder / "app.plan.html").read_text()
    HTMLParser().feed(page)
    assert "as compiled now" in page and "http" not in page.replace("http://www.w3.org/2000/svg", "")
    ElementTree.parse(folder / "front.svg")
    assert not (folder / "app.plan.search.jsonl").exists()

    rows = "".join(f"{at},{at % 7},{at * 37 % 101}\n" for at in range(400))
    (folder / "in.csv").write_text("ts,key,x\n" + rows)
    control = json.loads(dfc("compile", "app.dfl", "--plan", "app.plan.json", "--emit", "control").stdout)
    means = control["operators"][0]
    assert means["policy"] == plan["control"]["policy"] and means["parameters"] == plan["control"]["parameters"]
    assert means["workers"] == {name: plan["operators"]["means"][name] for name in ("least", "most")}
    assert control["step"] == plan["control"]["step"]
    said = dfc("explain", "app.dfl", "--plan", "app.plan.json").stdout
    assert "by the plan file" in said
    native = dfc("run", "app.dfl", "--plan", "app.plan.json", "--", "--quiet", "--no-socket", "--control", "off")
    assert native.returncode == 0, native.stderr
    chosen = plan["operators"]["means"]["alternate"]
    meant = run(pipeline.flow(pipeline.check(APP, "app.dfl", {})), folder=folder, active={"means": chosen})
    assert (folder / "out.csv").read_text().splitlines() == list(meant.csv_lines("out"))


def test_the_same_words_give_the_same_bytes(dfc, folder):
    texts = []
    for _ in range(2):
        assert dfc(*WORDS).returncode == 0
        texts.append([(folder / name).read_bytes() for name in ("app.plan.json", "app.plan.html")])
    assert texts[0] == texts[1]


def test_ctrl_c_keeps_what_was_found_and_resume_goes_on(dfc, folder):
    assert dfc(*WORDS, "-o", "whole.plan.json").returncode == 0
    process = subprocess.Popen([sys.executable, "-m", "dfc.compiler.cli", *WORDS], cwd=folder, stderr=subprocess.PIPE,
                               stdout=subprocess.PIPE, text=True)
    for line in process.stderr:
        if "best so far" in line:
            process.send_signal(signal.SIGINT)
            break
    said, wrong = process.communicate(timeout=120)
    assert process.returncode == 130 and "--resume goes on" in wrong and "recommended" in said
    assert json.loads((folder / "app.plan.json").read_text())["about"]["complete"] is False
    again = dfc(*WORDS, "--resume")
    assert again.returncode == 0, again.stderr
    assert (folder / "app.plan.json").read_bytes() == (folder / "whole.plan.json").read_bytes()
    refused = dfc(*WORDS, "--resume")
    assert refused.returncode == 2 and "no search to go on with" in refused.stderr


@pytest.mark.parametrize(("content", "words", "code", "said"), [
    (None, (), 1, "E0510"), ("notes", (), 1, "E0510"), (profile_text(app="other"), (), 1, "E0513"),
    (profile_text(schema=9), (), 1, "E0511"), (profile_text(sources={}), (), 2, "no recorded rates"),
    (profile_text(), ("--policy", "magic"), 2, "--policy magic: there is mpc"),
    (profile_text(), ("--master", "nowhere"), 2, "--master `nowhere` is none"),
    (profile_text(), ("--master", "spark://127.0.0.1:1"), 4, "does not answer"),
    (profile_text(), ("--pattern", "means=pane_farming:2"), 1, "E0500"),
    (profile_text(), ("--budget", "0"), 2, "--budget"), (profile_text(), ("-o", "nowhere/\0.json"), 4, "")])
def test_what_cannot_be_is_said_in_one_line(dfc, folder, content, words, code, said):
    (folder / "app.profile.json").unlink() if content is None else (folder / "app.profile.json").write_text(content)
    if "\0" in "".join(words):
        (folder / "nowhere").write_text("a file")
        words = ("-o", "nowhere/app.plan.json")
    before = {path.name for path in folder.iterdir()}
    answer = dfc(*WORDS, *words)
    assert answer.returncode == code and said in answer.stderr and "Traceback" not in answer.stderr
    assert {path.name for path in folder.iterdir()} - before <= {"app.plan.search.jsonl"}


def test_a_program_without_anything_to_divide(dfc, folder):
    (folder / "app.dfl").write_text('app app\nrecord T { ts: timestamp<ms>, x: f64 }\nsource s: T = csv("in.csv")\n'
                                    "stream total = s |> scan n: f64 = 0.0 { n: n + x }\n"
                                    'sink out = total to csv("out.csv")\n')
    answer = dfc(*WORDS)
    assert answer.returncode in (1, 2) and len(answer.stderr.splitlines()) >= 1 and "Traceback" not in answer.stderr
