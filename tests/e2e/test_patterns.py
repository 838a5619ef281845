"""`dfc explain --cores`, `dfc simulate`, `dfc calibrate` and --pattern from outside. No test asserts a time."""

from __future__ import annotations

import json

import pytest

PROGRAM = """\
app app
record Quote { ts: timestamp<ms>, symbol: symbol, price: f64 }
record Out { symbol: symbol, m: f64 }
source quotes: Quote = generate(count: 60000, rate: 100k/s, keys: 20, zipf: 1.0) event time ts
stream good = quotes |> filter price > 0.1
operator typical on good by symbol window count 100 slide 20 -> Out {
  alternate a = { symbol, m: median(price) }
}
stream means = quotes |> by symbol |> window time 10ms slide 5ms |> aggregate { symbol, m: avg(price) }
sink one = typical to csv("typical.csv")
sink two = means to csv("means.csv")
"""


@pytest.fixture
def program(tmp_path):
    (tmp_path / "app.dfl").write_text(PROGRAM)
    return tmp_path


def test_calibrate_measures_every_step(dfc, program):
    answer = dfc("calibrate", "app.dfl", "-o", "app.profile.json")
    assert (answer.returncode, answer.stdout) == (0, "app.profile.json\n"), answer.stderr
    assert sorted(path.name for path in program.iterdir()) == ["app.dfl", "app.profile.json"], "sinks write elsewhere"
    found = json.loads((program / "app.profile.json").read_text())
    assert set(found["operators"]) == {"quotes", "good", "typical", "means", "one", "two"}
    assert set(found["machine"]) == {"emit_ns", "take_ns", "collect_ns", "hop_ns", "emit_shared_ns", "emit_all_ns",
                                     "clock_ns"}
    typical = found["operators"]["typical"]
    assert typical["costs"]["a"]["window"] > typical["costs"]["a"]["tuple"] > 0
    assert typical["keys"]["count"] == 20 and typical["keys"]["p_max"] == pytest.approx(0.278, abs=0.02)
    assert typical["selectivity"] == pytest.approx(1 / 20, rel=0.1)
    assert found["operators"]["good"]["selectivity"] == pytest.approx(0.9, abs=0.02)
    explained = json.loads(dfc("explain", "app.dfl", "--cores", "4", "--profile", "app.profile.json", "--json").stdout)
    assert explained["patterns"]["assumed"] == []
    assert {one["costs_from"] for one in explained["patterns"]["operators"]} == {"profile"}


FILE = PROGRAM.replace("generate(count: 60000, rate: 100k/s, keys: 20, zipf: 1.0)", 'csv("quotes.csv")')


@pytest.mark.parametrize("rows", [0, 300])
def test_too_little_input_tells_no_costs(dfc, tmp_path, rows):
    (tmp_path / "app.dfl").write_text(FILE)
    lines = (f"{i},{'ab'[i % 2]},{1 + i % 7}.5\n" for i in range(rows))
    (tmp_path / "quotes.csv").write_text("ts,symbol,price\n" + "".join(lines))
    answer, profile = dfc("calibrate", "app.dfl"), tmp_path / "app.profile.json"
    if not rows:
        assert answer.returncode == 1 and "error[E0514]" in answer.stderr and not profile.exists()
        return
    assert answer.returncode == 0 and "warning[W0515]: 300 tuples took" in answer.stderr
    found = json.loads(profile.read_text())
    assert {name: one["costs"] for name, one in found["operators"].items()} == dict.fromkeys(found["operators"], {})
    assert found["operators"]["typical"]["keys"]["count"] == 2 and "crowded" not in found
    explained = json.loads(dfc("explain", "app.dfl", "--cores", "4", "--profile", profile.name, "--json").stdout)
    assert {one["costs_from"] for one in explained["patterns"]["operators"]} == {"default"}


def test_explain_says_what_it_assumes(dfc, program):
    said = dfc("explain", "app.dfl", "--cores", "12").stdout
    assert "patterns for 12 cores" in said and "costs are defaults for the kind of step: quotes, good, typical" in said
    assert "window_farming" in said and "median needs the whole window" in said
    assert dfc("explain", "app.dfl", "--cores", "12").stdout == said


def test_explain_as_json(dfc, program):
    found = json.loads(dfc("explain", "app.dfl", "--cores", "12", "--json").stdout)["patterns"]
    names = [row["pattern"] for row in found["operators"][0]["patterns"]]
    assert names == ["sequential", "farm", "key_partitioning", "window_farming", "pane_farming", "window_partitioning",
                     "nesting"]
    for operator in found["operators"]:
        assert sum(row["chosen"] for row in operator["patterns"]) == 1
    assert found["cores"] == 12 and found["predicted"]["rate"] > 0


def test_the_plan_holds_the_decisions(dfc, program):
    plain = dfc("compile", "app.dfl", "--emit", "plan").stdout
    assert "pattern typical" not in plain and "layout " not in plain
    decided = dfc("compile", "app.dfl", "--emit", "plan", "--cores", "4").stdout
    assert "pattern typical = " in decided and "layout " in decided


def summary(answer) -> dict:
    assert answer.returncode == 0, answer.stderr
    return json.loads(answer.stderr.splitlines()[-1])


@pytest.mark.parametrize(("word", "threads"), [
    ("typical=key_partitioning:3", 3), ("typical=window_farming:2", 2), ("typical=key_partitioning:1", 1),
    ("means=pane_farming:2,2,merge=farm", 5)])
def test_a_forced_pattern_runs_as_planned_and_workers_override(dfc, program, word, threads):
    """The other operator stays in one thread, with the sinks."""
    other = "means=sequential" if word.startswith("typical") else "typical=sequential"
    words = ("run", "app.dfl", "--pattern", word, "--pattern", other)
    planned = summary(dfc(*words, "--", "--stats"))
    assert (planned["layout"], planned["threads"]) == ("staged", threads + 3), "parser, reader, the rest, the pattern"
    assert summary(dfc(*words, "--workers", "1", "--", "--stats"))["layout"] == "fused"


def test_a_plan_for_cores_runs_as_planned(dfc, program):
    predicted = json.loads(dfc("explain", "app.dfl", "--cores", "3", "--json").stdout)["patterns"]
    ran = summary(dfc("run", "app.dfl", "--cores", "3", "--", "--stats"))
    assert (ran["layout"], ran["threads"]) == (predicted["layout"], predicted["predicted"]["threads"])


def test_the_clause_and_the_option_give_the_same_plan(dfc, program):
    plain = dfc("compile", "app.dfl", "--emit", "plan", "--pattern", "typical=window_farming:3,batch=2").stdout
    clause = "slide 20 pattern window_farming { workers: 3, batch: 2 } ->"
    (program / "app.dfl").write_text(PROGRAM.replace("slide 20 ->", clause))
    assert dfc("compile", "app.dfl", "--emit", "plan").stdout == plain
    assert "work x3" in plain


def test_forced_patterns_that_cannot_be(dfc, program):
    assert "error[E0500]" in dfc("compile", "app.dfl", "--pattern", "typical=pane_farming:3,2").stderr
    assert "error[E0502]" in dfc("explain", "app.dfl", "--pattern", "typical=farm:0").stderr
    explained = dfc("explain", "app.dfl", "--cores", "4", "--pattern", "typical=window_farming:3")
    assert explained.returncode == 0 and "* window_farming 3" in explained.stdout


@pytest.mark.parametrize(("word", "segment"), [("typical=key_partitioning:3", "keyed x3: typical"),
                                               ("good=farm:2", "farm x2: good")])
def test_a_program_runs_with_the_workers_that_were_decided(dfc, program, word, segment):
    (program / "app.dfl").write_text(PROGRAM if "farm" not in word else """\
app app
record Quote { ts: timestamp<ms>, price: f64 }
record Out { p: f64 }
source quotes: Quote = generate(count: 1000, rate: 100k/s) event time ts
operator good on quotes -> Out { alternate a = { p: price * 2.0 } }
sink one = good to csv("good.csv")
""")
    assert segment in dfc("compile", "app.dfl", "--emit", "plan", "--pattern", word).stdout
    stats = json.loads(dfc("run", "app.dfl", "--pattern", word, "--", "--quiet", "--stats").stderr)
    assert stats["layout"] == "staged" and stats["workers"] == int(word[-1])


COSTLY = """\
app app
record Quote { ts: timestamp<ms>, symbol: i32, price: f64 }
record Out { symbol: i32, p: f64 }
source quotes: Quote = generate(count: 500, rate: 100k/s) event time ts
operator good on quotes -> Out { alternate a cost 100us = { symbol, p: price * 2.0 } }
stream most = good |> by symbol |> window count 10 |> aggregate { symbol, p: max(p) }
operator last on most -> Out { alternate a cost 100us = { symbol, p: p + 1.0 } }
sink one = last to csv("most.csv")
"""


def test_a_costly_step_is_farmed_out_wherever_it_stands(dfc, program):
    (program / "app.dfl").write_text(COSTLY)
    said = dfc("explain", "app.dfl", "--cores", "12").stdout
    assert "* farm" in said.split("good: 100 us a tuple")[1].split("\n\n")[0], said
    assert "last: 100 us a tuple" in said and "passing tuples costs what parallel work gains" not in said
    assert dfc("run", "app.dfl", "--interpret").returncode == 0
    expected = (program / "most.csv").read_bytes()
    for words in (("good=farm:4",), ("last=farm:2",), ("good=farm:2", "most=key_partitioning:2", "last=farm:3")):
        patterns = [part for word in words for part in ("--pattern", word)]
        plan = dfc("compile", "app.dfl", "--emit", "plan", *patterns).stdout
        assert all(f"farm x{word[-1]}: {word.split('=')[0]}" in plan for word in words if "farm" in word), plan
        stats = json.loads(dfc("run", "app.dfl", *patterns, "--", "--quiet", "--stats").stderr)
        assert stats["layout"] == "staged" and (program / "most.csv").read_bytes() == expected


def test_a_summary_has_the_time_of_each_thread(dfc, program):
    summary = json.loads(dfc("run", "app.dfl", "--pattern", "typical=window_farming:2", "--", "--quiet", "--stats",
                             "--thread-times").stderr)
    replicas = [(stage["segment"], stage["replica"]) for stage in summary["stages"]]
    assert replicas == [(0, 0), (1, 0), (1, 1), (2, 0)]
    assert all(0 <= stage["cpu_seconds"] for stage in summary["stages"])  # one may have had nothing to do
    assert 0 < sum(stage["cpu_seconds"] for stage in summary["stages"])
    generating = summary["parsers"]
    assert [(one["source"], one["threads"], one["by_reader"]) for one in generating] == [("quotes", 1, 0)]
    assert generating[0]["cpu_seconds"] > 0


def test_a_summary_has_the_time_of_parsing(dfc, program):
    """Of a file that is parsed ahead it is all told, whoever did it; standard input is read by the reader itself."""
    (program / "app.dfl").write_text(PROGRAM.replace("generate(count: 60000, rate: 100k/s, keys: 20, zipf: 1.0)",
                                                     'csv("quotes.csv")'))
    rows = "ts,symbol,price\n" + "".join(f"{i},A,{i % 7}.25\n" for i in range(20000))
    (program / "quotes.csv").write_text(rows)
    words = ("run", "app.dfl", "--workers", "3", "--", "--quiet", "--stats", "--thread-times")
    (parser,) = json.loads(dfc(*words).stderr)["parsers"]
    assert (parser["source"], parser["threads"]) == ("quotes", 1)
    assert parser["cpu_seconds"] + parser["by_reader"] > 0
    assert json.loads(dfc(*words, "--source", "quotes=csv:-", input=rows).stderr)["parsers"] == []


@pytest.mark.parametrize(("content", "code"), [
    (None, "E0510"), (b"\xff\xfe", "E0510"), (b"notes", "E0510"), (b'{"schema": 7}', "E0511"),
    (b'{"schema": 1, "app": "other"}', "E0513")])
def test_profiles_that_cannot_be_used(dfc, program, content, code):
    if content is not None:
        (program / "p.json").write_bytes(content)
    answer = dfc("explain", "app.dfl", "--profile", "p.json")
    assert answer.returncode == 1 and f"error[{code}]" in answer.stderr


WORKERS_TO_24 = [1, 2, 3, 4, 6, 8, 12, 16, 20, 24]


def test_simulate(dfc, program):
    words = ("simulate", "app.dfl", "--cores", "2", "--keys", "0.16", "--json")
    found = json.loads(dfc(*words).stdout)
    assert [one["name"] for one in found["operators"]] == ["typical", "means"]
    typical = found["operators"][0]
    assert set(typical["patterns"]) == {"key_partitioning", "key_partitioning, balanced", "window_farming"}
    assert [point["workers"] for point in typical["patterns"]["window_farming"]] == [1, 2]
    assert typical["p_max"] == pytest.approx(0.16, rel=0.01)
    said = dfc("simulate", "app.dfl", "--cores", "2").stdout
    assert "scaling by keys" in said and "very skewed 0.16" in said and "window_farming" in said


@pytest.mark.parametrize(("cores", "workers"), [("1", [1]), ("5", [1, 2, 3, 4, 5]), ("30", [*WORKERS_TO_24, 30])])
def test_simulate_goes_as_far_as_it_says(dfc, program, cores, workers):
    found = json.loads(dfc("simulate", "app.dfl", "--cores", cores, "--keys", "uniform", "--json").stdout)
    for points in found["operators"][0]["patterns"].values():
        assert [point["workers"] for point in points] == workers
    assert found["cores"] == workers[-1]


@pytest.mark.parametrize(("forced", "played"), [
    ("window_farming:3,batch=8", {"window_farming": [
        (3, "workers: 3, batch: 8, schedule: on_demand, style: agnostic")]}),
    ("window_farming:style=active", {"window_farming": [
        (n, f"workers: {n}, batch: 1, schedule: round_robin, style: active") for n in (1, 2)]}),
    ("key_partitioning:6", dict.fromkeys(("key_partitioning", "key_partitioning, balanced"), [(6, "workers: 6")])),
    ("sequential", {"sequential": [(1, "")]}),
])
def test_simulate_plays_what_is_forced(dfc, program, forced, played):
    """And the other operators as without it."""
    words = ("simulate", "app.dfl", "--cores", "2", "--keys", "uniform", "--pattern", f"typical={forced}")
    typical, means = json.loads(dfc(*words, "--json").stdout)["operators"]
    found = {title: [(one["workers"], one["pattern"]) for one in points]
             for title, points in typical["patterns"].items()}
    assert found == {title: [(n, f"{title.split(',')[0]} {{ {text} }}" if text else title) for n, text in points]
                     for title, points in played.items()}
    assert typical["forced"] and not means["forced"] and set(means["patterns"]) > {"pane_farming", "window_farming"}
    said = dfc(*words).stdout
    assert "(uniform), with what is forced\n" in said and found[min(found)][0][1] in said


@pytest.mark.parametrize("words", [("--keys", "2"), ("--keys", "many"), ("--rate", "0"), ("--rate", "nan"),
                                   ("--cores", "0"), ("--cores", "10000"), ("--seconds", "3")])
def test_words_of_simulate_that_cannot_be(dfc, program, words):
    assert dfc("simulate", "app.dfl", *words).returncode == 2
