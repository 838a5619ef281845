"""Which pattern is chosen and why: each program of golden/ with the table that `dfc explain` prints.

DFC_UPDATE_GOLDEN=1 writes the expected tables anew.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from dfc.compiler import pipeline
from dfc.compiler.artifacts.profile import OperatorProfile, Profile, StepCosts, to_json
from dfc.compiler.patterns import PATTERNS
from dfc.compiler.select.asked import Asked, request_of
from dfc.compiler.select.pattern_table import to_lines
from dfc.compiler.select.search import Choice, choose_patterns

GOLDEN = Path(__file__).parent / "golden"
CASES = sorted(path.stem for path in GOLDEN.glob("*.dfl"))
CHOSEN = {"pane": "pane_farming", "latency": "window_partitioning", "whole": "window_farming",
          "combinable": "pane_farming", "unkeyed": "window_partitioning",
          "state": "key_partitioning", "one_thread": "sequential", "cheap": "sequential", "often": "sequential"}
CORES = {"often": 2}  # instead of 12


def chosen(name: str, cores: int | None = None, patterns: tuple[str, ...] = ()) -> Choice:
    file = GOLDEN / f"{name}.dfl"
    graph = pipeline.flow(pipeline.check(file.read_text(), file.name, {}))
    profile = GOLDEN / f"{name}.profile.json"
    asked = Asked(cores or CORES.get(name, 12), str(profile) if profile.exists() else None, patterns)
    return choose_patterns(graph, request_of(graph.program, asked))


@pytest.mark.parametrize("name", CASES)
def test_the_table(name):
    found = "\n".join(to_lines(chosen(name))).lstrip() + "\n"
    expected = GOLDEN / f"{name}.expected"
    if os.environ.get("DFC_UPDATE_GOLDEN"):
        expected.write_text(found)
    assert found == expected.read_text()


@pytest.mark.parametrize(("name", "pattern"), CHOSEN.items())
def test_the_choice(name, pattern):
    choice = chosen(name)
    (unit,) = choice.rows
    assert choice.best.patterns[unit].pattern.name == pattern
    assert [row.pattern.name for row in choice.rows[unit] if row.chosen] == [pattern]
    assert [row.pattern.name for row in choice.rows[unit]] == list(PATTERNS)
    assert all(row.chosen or row.why for row in choice.rows[unit])


def for_latency(bound: str, words: tuple[str, ...] = ()) -> Choice:
    """The program of `latency`, with another goal."""
    text = (GOLDEN / "latency.dfl").read_text().replace("<= 1ms", f"<= {bound}")
    graph = pipeline.flow(pipeline.check(text, "latency.dfl", {}))
    return choose_patterns(graph, request_of(graph.program, Asked(12, None, words)))


@pytest.mark.parametrize(("bound", "words", "pattern", "why"), [
    ("1ms", (), "window_partitioning", "the only one that keeps the latency goal; "),
    ("1300us", (), "window_partitioning", "the highest throughput that keeps the latency goal; "),
    ("2ms", (), "pane_farming", "the highest throughput; "),
    ("1ms", ("predict=window_partitioning",), "window_partitioning", "the highest throughput with what is forced; "),
    ("100ms", ("predict=key_partitioning:3",), "key_partitioning", "the highest throughput with what is forced; "),
    ("10us", (), "window_partitioning", "the nearest to the goals; "),
])
def test_the_reason_is_the_true_one(bound, words, pattern, why):
    choice = for_latency(bound, words)
    assert choice.best.patterns["predict"].pattern.name == pattern and choice.why.startswith(why), choice.why


def test_what_may_be_no_more_is_not_called_less():
    choice = planned("count 4", 4, "median(n)")
    assert max(row.whole.rate for row in choice.rows["s"] if row.whole) > 1.05 * choice.best.rate
    assert choice.why.startswith("nothing promises 20 % more"), choice.why


CHEAP_WINDOWS = ["count 3 slide 1", "time 10ms slide 2ms", "count 10 slide 5", "count 20 slide 2", "count 1000 slide 1",
                 "count 1000 slide 300", "count 4"]


def planned(window: str, cores: int, function: str = "sum(n)") -> Choice:
    text = f"""app own
record R {{ ts: timestamp<ms>, k: symbol, n: i32 }}
source r: R = generate(count: 3M, keys: 1000) event time ts
aggregate last_of(x: i64) -> i64 associative {{ state {{ a: i64 }} lift {{ a: x }} combine {{ a: right.a }} lower a }}
stream s = r |> by k |> window {window} |> aggregate {{ k, t: {function} }}
sink out = s to discard()
"""
    graph = pipeline.flow(pipeline.check(text, "own.dfl", {}))
    return choose_patterns(graph, request_of(graph.program, Asked(cores)))


@pytest.mark.parametrize("window", CHEAP_WINDOWS)
def test_one_core_has_one_thread_for_cheap_windows(window):
    choice = planned(window, 1)
    assert choice.best.layout == "fused", "\n".join(to_lines(choice))


@pytest.mark.parametrize("window", CHEAP_WINDOWS)
def test_two_cores_have_no_workers_for_cheap_windows(window):
    """Reading may have a thread of its own; putting tuples into links costs more than dividing such windows gains."""
    choice = planned(window, 2)
    assert choice.best.patterns["s"].pattern.name == "sequential", "\n".join(to_lines(choice))


def test_one_core_has_panes_where_one_thread_would_fold_each_window_anew():
    """The one thing that a pattern gives on one core: less work."""
    assert planned("count 1000 slide 100", 1, "last_of(n)").best.patterns["s"].pattern.name == "pane_farming"


def test_no_parallelism_means_one_thread():
    assert chosen("one_thread").best.threads == chosen("cheap").best.threads == 1
    assert "one thread is enough" in chosen("one_thread").why


@pytest.mark.parametrize(("emit", "layout"), [(8.0, "staged"), (13.0, "fused"), (30.0, "fused")])
def test_threads_must_promise_more_than_they_may_be_off(tmp_path, emit, layout):
    """Reading costs 5 ns and the window 16: with 13 more for a link two threads would be faster by a sixth."""
    profile = Profile("cheap", "calibration",
                      {"emit_ns": emit, "take_ns": 1.0, "collect_ns": 1.0, "hop_ns": 3000.0}, {},
                      {"quotes": OperatorProfile({"quotes": StepCosts(5.0)}),
                       "mean": OperatorProfile({"a": StepCosts(16.0, window=0.0, keep=20.0)}, 0.001),
                       "out": OperatorProfile({"out": StepCosts(1.0)})})
    (tmp_path / "cheap.profile.json").write_text(to_json(profile))
    file = GOLDEN / "cheap.dfl"
    graph = pipeline.flow(pipeline.check(file.read_text(), file.name, {}))
    asked = Asked(2, str(tmp_path / "cheap.profile.json"), ())
    choice = choose_patterns(graph, request_of(graph.program, asked))
    assert choice.best.layout == layout, "\n".join(to_lines(choice))


@pytest.mark.parametrize(("window", "selectivity", "assumed"), [
    ("time 1s slide 100ms", None, True), ("time 1s slide 100ms", 0.01, False), ("time 1s", 0.01, False),
    ("time 1s every tuple", 1.0, True), ("count 10", None, False)])
def test_a_rate_is_assumed_where_no_results_were_counted(tmp_path, window, selectivity, assumed):
    """Results for each tuple tell how many tuples are in a slide, whatever the rate."""
    text = ('app own\nrecord R { ts: timestamp<ms>, v: f64 }\nsource r: R = csv("r.csv") event time ts\n'
            f'stream s = r |> window {window} |> aggregate {{ m: avg(v) }}\nsink out = s to csv("out.csv")\n')
    graph = pipeline.flow(pipeline.check(text, "own.dfl", {}))
    profile = Profile("own", "calibration", operators={"s": OperatorProfile({"s": StepCosts(5.0)}, selectivity)})
    (tmp_path / "own.profile.json").write_text(to_json(profile))
    choice = choose_patterns(graph, request_of(graph.program, Asked(2, str(tmp_path / "own.profile.json"), ())))
    assert ("100000 tuples a second" in "\n".join(to_lines(choice))) == assumed
    if selectivity == 0.01:
        assert choice.model.loads["s"].load.slide == 100


def test_unmet_goals_say_what_is_needed():
    few = chosen("unmet")
    assert "cores would meet the goals (predict: window_farming:" in few.needed
    cores = int(few.needed.split()[0])
    assert chosen("unmet", cores=cores).needed == ""
    assert chosen("unmet", cores=cores - 1).needed != ""


def test_a_forced_pattern_is_kept_and_its_open_settings_are_chosen():
    best = chosen("pane", patterns=("predict=pane_farming:3,2",)).best.patterns["predict"].pattern
    assert (best.name, best.workers, best.merge_workers) == ("pane_farming", 3, 2)
    assert best.merge in ("farm", "shuffled")
    best = chosen("pane", patterns=("predict=window_farming:4,batch=8,schedule=on_demand",)).best.patterns["predict"]
    assert (best.pattern.workers, best.pattern.batch, best.pattern.schedule) == (4, 8, "on_demand")
    assert chosen("pane", patterns=("predict=sequential",)).best.patterns["predict"].pattern.name == "sequential"


def test_more_cores_never_make_it_slower():
    rates = [chosen("pane", cores=cores).best.rate for cores in (1, 2, 4, 8, 16, 32)]
    assert rates == sorted(rates) and rates[-1] > 10 * rates[0]
