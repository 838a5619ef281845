"""`dfc explain`, `dfc error` and the warnings: what dfc says about a program that is right."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

PROGRAM = """\
app said
record Quote { ts: timestamp<ms>, symbol: symbol, price: f64 }
source quotes: Quote = csv("quotes.csv") event time ts slack 5ms
stream mean = quotes |> by symbol |> window time 1s slide 100ms |> aggregate { symbol, m: avg(price) }
stream middle = quotes |> by symbol |> window time 1s |> aggregate { symbol, m: median(price) }
stream all = quotes |> window count 10 |> aggregate { n: count() }
operator pick on quotes by symbol window count 4 -> Picked {
  alternate small value 0.5 = { symbol, p: first(price) }
  alternate large value 0.9 = { symbol, p: max(price) }
}
record Picked { symbol: symbol, p: f64 }
sink a = mean to csv("a.csv")
sink b = middle to csv("b.csv")
sink c = all to csv("c.csv")
sink d = pick to csv("d.csv")
"""


@pytest.fixture
def program(tmp_path):
    (tmp_path / "said.dfl").write_text(PROGRAM)
    return tmp_path


def test_everything_is_explained(dfc, program):
    answer = dfc("explain", "said.dfl")
    assert (answer.returncode, answer.stderr) == (0, "")
    for words in ("by symbol, window time 1000 slide 100 (in ms)", "one partial value a pane", "because of median",
                  "keyed: mean", "state of `mean` is divided by symbol", "pick runs large: the highest value, 0.9",
                  "--alternate pick=small", "`all` looks at the whole stream", "--workers 1: 1 thread",
                  "--workers 4: "):
        assert words in answer.stdout, words
    assert dfc("explain", "said.dfl").stdout == answer.stdout


def test_the_same_as_json(dfc, program):
    found = json.loads(dfc("explain", "--json", "said.dfl").stdout)
    steps = {step["name"]: step for step in found["steps"]}
    assert steps["mean"]["keys"] == ["symbol"] and steps["mean"]["line"] == 4
    assert {s["kind"] for s in found["segments"]} == {"read", "keyed", "single"}
    assert all(e["from"] in steps and e["to"] in steps for e in found["edges"])
    assert found["alternates"] == [{"operator": "pick", "active": "large",
                                    "why": "the highest value, 0.9 (others: small 0.5)"}]


def test_the_threads_are_those_of_the_program(dfc, program):
    """What `explain` says of --workers is what the summary of a run says."""
    (program / "quotes.csv").write_text("ts,symbol,price\n")
    for one in json.loads(dfc("explain", "--json", "said.dfl").stdout)["threads"]:
        answer = dfc("run", "said.dfl", "--workers", one["workers"], "--", "--stats")
        assert json.loads(answer.stderr.splitlines()[-1])["threads"] == one["threads"]


LIGHT = """app light
record Trade { ts: timestamp<ms>, key: symbol, price: f64 }
source trades: Trade = csv("trades.csv") event time ts
stream best = trades |> by key |> window time 10s |> aggregate { key, high: max(price) }
sink out = best to csv("out.csv")
"""


@pytest.mark.parametrize(("find", "put", "threads"), [
    ("", "", 2), ("max(price)", "median(price)", 5), ('csv("trades.csv")', "generate(count: 3)", 5),
    ('csv("trades.csv")', "generate(count: 3, rate: 1k/s, paced: true)", 4),
])
def test_two_workers_where_parsing_is_most_of_the_work(dfc, tmp_path, find, put, threads):
    """One runs everything, the other one parses; not where windows cost more, or where nothing is parsed."""
    (tmp_path / "light.dfl").write_text(LIGHT.replace(find, put))
    (tmp_path / "trades.csv").write_text("ts,key,price\n1000,A,1.5\n2000,A,2.5\n")
    explained = json.loads(dfc("explain", "--json", "light.dfl").stdout)
    said = {one["workers"]: one["threads"] for one in explained["threads"]}
    answer = dfc("run", "light.dfl", "--workers", 2, "--", "--stats")
    assert json.loads(answer.stderr.splitlines()[-1])["threads"] == said[2] == threads


def test_two_workers_when_the_file_is_replaced(dfc, tmp_path):
    """A source that is no file any more has nothing to parse ahead."""
    (tmp_path / "light.dfl").write_text(LIGHT)
    answer = dfc("run", "light.dfl", "--workers", 2, "--", "--stats", "--source", "trades=generate:count=3")
    assert json.loads(answer.stderr.splitlines()[-1])["layout"] == "staged"


# --- codes ------------------------------------------------------------------------------------------


def test_every_code_has_a_page(dfc):
    """Each has a title and an explanation; those that a program can cause have an example."""
    from dfc.compiler.commands.error import all_codes

    codes = all_codes()
    assert {name[:3] for name in codes} >= {"E00", "E01", "E02", "E03", "E04", "E08", "E09", "W01"}
    for name, code in codes.items():
        assert code.title and code.explanation and (code.wrong and code.right or name == "E0999"), name
    listed = dfc("error").stdout.splitlines()
    assert [line.split()[0] for line in listed] == sorted(codes)


@pytest.mark.parametrize(("asked", "near"), [("E0999x", "E0999"), ("901", "E0901"), ("e0901", None), ("E091", "E0901")])
def test_a_code_that_is_nearly_right(dfc, asked, near):
    answer = dfc("error", asked)
    if near is None:
        assert answer.returncode == 0 and answer.stdout.startswith("E0901: ")
    else:
        assert answer.returncode == 2 and near in answer.stderr and len(answer.stderr.splitlines()) == 1


# --- warnings ---------------------------------------------------------------------------------------

UNUSED = """\
app warned
param unused: int = 3
record R { n: i64 }
source s: R = csv("in.csv")
sink o = s to csv("out.csv")
"""


@pytest.mark.parametrize("command", ["check", "explain", "compile", "run", "graph"])
def test_warnings_are_shown_and_stop_nothing(dfc, tmp_path, command):
    (tmp_path / "warned.dfl").write_text(UNUSED)
    (tmp_path / "in.csv").write_text("n\n1\n")
    answer = dfc(command, "warned.dfl")
    assert answer.returncode == 0
    assert "warning[W01" in answer.stderr and "unused" in answer.stderr and "1 warning\n" in answer.stderr
    assert answer.stderr.count("warning[") == 1


# --- what is imported -------------------------------------------------------------------------------

FORBIDDEN = ("lark", "networkx", "numpy", "jinja2", "pyspark", "cffi", "duckdb")


@pytest.mark.parametrize(("words", "allowed"), [
    (("--help",), ()), (("--version",), ()), (("version",), ()), (("run", "--help"), ()),
    (("check", "said.dfl"), ("lark",)), (("fmt", "--check", "said.dfl"), ("lark",)),
], ids=lambda value: " ".join(value))
def test_only_what_is_needed_is_imported(program, words, allowed):
    code = ("import sys\nfrom dfc.compiler.cli import main\n"
            f"try:\n    main({list(words)!r})\nexcept SystemExit:\n    pass\n"
            f"print([name for name in {FORBIDDEN!r} if name in sys.modules], file=sys.stderr)")
    answer = subprocess.run([sys.executable, "-c", code], cwd=program, capture_output=True, text=True)
    assert answer.stderr.splitlines()[-1] == str(list(allowed)), answer.stderr
