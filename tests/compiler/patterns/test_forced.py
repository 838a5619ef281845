"""Forced patterns: in the program and on the command line, those that apply and those that do not."""

from __future__ import annotations

import pytest
from dfc.compiler import pipeline
from dfc.compiler.patterns import PATTERNS
from dfc.compiler.patterns.forced import forced_patterns
from dfc.compiler.patterns.function import function_of
from dfc.compiler.select.asked import Asked, request_of
from dfc.dsl.diagnostics import Diagnostics, ProgramError

HEAD = """\
app forced
record Quote { ts: timestamp<ms>, symbol: symbol, price: f64 }
record Out { m: f64 }
aggregate fold(x: f64) -> f64 associative { state { a: f64 } lift { a: x } combine { a: left.a - right.a } lower a }
source quotes: Quote = csv("quotes.csv") event time ts
"""


def program(clauses: str, value: str = "avg(price)"):
    text = (f"{HEAD}operator x on quotes {clauses} -> Out {{ alternate a = {{ m: {value} }} }}\n"
            'sink o = x to csv("o.csv")\n')
    return pipeline.check(text, "forced.dfl", {})


def codes(clauses: str, value: str = "avg(price)", words: tuple[str, ...] = (), plan: bool = False) -> list[str]:
    """The codes of the errors, of the program and of its plan."""
    try:
        checked = program(clauses, value)
        asked = Asked(4, None, words)
        if plan:
            pipeline.plan(pipeline.flow(checked), asked)
        else:
            request_of(checked, asked)
    except ProgramError as error:
        return [one.code for one in error.diagnostics.items if one.severity == "error"]
    return []


def test_bounds_are_said_in_whole_numbers():
    with pytest.raises(ProgramError) as raised:
        request_of(program(COUNT), Asked(4, None, ("x=window_farming:2,batch=0",)))
    (one,) = raised.value.diagnostics.items
    assert (one.code, one.expected) == ("E0502", "a whole number from 1 to 1048576")


COUNT, TUMBLING = "window count 100 slide 10", "window count 100"
APPLIES = [
    # clauses, value, the patterns that apply besides sequential
    ("", "price * 2.0", {"farm"}),
    (COUNT, "avg(price)", {"window_farming", "pane_farming", "window_partitioning", "nesting"}),
    (f"by symbol {COUNT}", "avg(price)", {"key_partitioning", "window_farming", "pane_farming", "window_partitioning",
                                          "nesting"}),
    (f"by symbol {TUMBLING}", "fold(price)", {"key_partitioning", "window_farming", "pane_farming",
                                              "window_partitioning", "nesting"}),
    (f"by symbol {COUNT}", "median(price)", {"key_partitioning", "window_farming"}),
    (COUNT, "ewma(price, 0.5)", {"window_farming"}),
    ("by symbol window time 1s slide 100ms", "max(price)", {"key_partitioning", "window_farming", "pane_farming",
                                                            "window_partitioning", "nesting"}),
    ("by symbol window count 100 slide 1", "avg(price)", {"key_partitioning", "window_farming", "window_partitioning",
                                                          "nesting"}),
    ("window count 3 slide 2", "avg(price)", {"window_farming", "window_partitioning", "nesting"}),
    ("by symbol window session gap 1s", "avg(price)", {"key_partitioning"}),
    ("by symbol window delta 0.5 of price", "avg(price)", {"key_partitioning"}),
    ("by symbol window count 100 every tuple", "avg(price)", {"key_partitioning"}),
]


@pytest.mark.parametrize(("clauses", "value", "expected"), APPLIES,
                         ids=lambda value: value if isinstance(value, str) else "")
def test_what_applies(clauses, value, expected):
    checked = program(clauses, value)
    function = function_of(checked, checked.step("x"))
    refused = {name: module.applies(function) for name, module in PATTERNS.items()}
    assert {name for name, why in refused.items() if why is None} == expected | {"sequential"}
    assert all(why is None or len(why) > 10 for why in refused.values())


@pytest.mark.parametrize(("clauses", "value", "expected"), APPLIES,
                         ids=lambda value: value if isinstance(value, str) else "")
def test_forcing_what_does_not_apply_is_an_error(clauses, value, expected):
    for name in PATTERNS:
        found = codes(f"{clauses} pattern {name}", value)
        if name in expected | {"sequential"}:
            assert found == []
        elif name == "pane_farming" and "slide 1" in clauses.split(","):
            assert found == ["E0501"]
        else:
            assert found in (["E0500"], ["E0501"])
        assert found == codes(clauses, value, (f"x={name}",)), "the command line is checked like the program"


def test_panes_of_one_tuple_have_a_code_of_their_own():
    assert codes("window count 100 slide 1 pattern pane_farming") == ["E0501"]
    assert codes("window count 100 slide 1 pattern pane_farming", "median(price)") == ["E0500"]


@pytest.mark.parametrize(("window", "code"), [
    ("3 slide 2", "E0501"), ("99 slide 2", "E0501"), ("1", "E0501"), ("1 slide 5", "E0501"), ("1 slide 2", "E0501"),
    ("100 every tuple", "E0501"), ("4 slide 2", ""), ("2", ""), ("4 slide 3", ""), ("5 slide 3", ""),
    ("2 slide 5", "")])
def test_panes_are_cut_where_windows_begin_and_end(window, code):
    """At an odd size and a slide of two that is between any two tuples."""
    assert codes(f"window count {window} pattern pane_farming") == [code] * bool(code)


@pytest.mark.parametrize(("settings", "expected"), [
    ("window_farming { workers: 0 }", ["E0409"]), ("window_farming { workers: 10000 }", ["E0409"]),
    ("pane_farming { workers: 2, merge_workers: 257 }", ["E0409"]), ("pane_farming { merge: rings }", ["E0402"]),
    ("window_farming { wokers: 2 }", ["E0400"]), ("pane_farm", ["E0412"]), ("auto { workers: 2 }", ["E0400"]),
    ("window_partitioning { reduce: synchronous }", ["E0500"]),
    ("nesting { outer: key_partitioning, workers: 2, inner_workers: 2 }", ["E0500"]),
    ("window_farming { workers: 4, batch: 8, schedule: on_demand }", []),
    ("pane_farming { workers: 3, merge_workers: 2, merge: shuffled }", []),
    ("window_partitioning(workers: 3, partition: contiguous)", []), ("auto", []),
])
def test_settings_of_the_program(settings, expected):
    assert codes(f"{COUNT} pattern {settings}") == expected


def test_order_dependent_functions_are_not_dealt_out():
    assert codes(f"{COUNT} pattern window_partitioning {{ partition: round_robin }}", "fold(price)") == ["E0500"]
    assert codes(f"{COUNT} pattern window_partitioning {{ partition: contiguous }}", "fold(price)") == []


@pytest.mark.parametrize("word", [
    "x", "x=", "=farm", "y=farm", "x=pane_farm", "x=pane_farming:0", "x=pane_farming:10000", "x=pane_farming:3,2,1",
    "x=pane_farming:3,merge=rings", "x=pane_farming:three", "x=window_farming:3,2", "x=window_farming:-1",
    "x=window_farming:+3", "x=window_farming:\u0663", "x=auto:3", "x=window_farming:,", "x=window_farming:batch="])
def test_words_that_cannot_be_followed(word):
    assert codes(COUNT, words=(word,)) == ["E0502"]


def test_words_become_the_same_structure():
    written = program(f"{COUNT} pattern pane_farming {{ workers: 3, merge_workers: 2, merge: shuffled }}")
    plain, found = program(COUNT), Diagnostics()
    given = forced_patterns(plain, ("x=pane_farming:3,2,merge=shuffled",), found)
    assert given == forced_patterns(written, (), found) and not found.items
    assert given["x"] == written.step("x").body.pattern
    assert forced_patterns(written, ("x=auto",), found) == {}, "the command line counts more"


KEYED = "by symbol window count 10 slide 5"


@pytest.mark.parametrize(("clauses", "segments"), [
    (f"{KEYED} pattern key_partitioning {{ workers: 4 }}", {"x": ("keyed", 4)}),
    (f"{KEYED} pattern sequential", {"x": ("single", 0)}),
    ("window count 10 pattern sequential", {"x": ("single", 0)}),
    ("pattern farm { workers: 3 }", {"x": ("farm", 3)}),
    ("pattern sequential", {"x": ("read", 0)}),
    (f"{KEYED} pattern window_farming {{ workers: 3 }}", {"x.windows": ("read", 0), "x": ("work", 3)}),
    (f"{KEYED} pattern window_farming {{ workers: 2, style: active }}", {"x": ("owners", 2)}),
    (f"{KEYED} pattern pane_farming {{ workers: 3, merge: collector }}",
     {"x.windows": ("read", 0), "x.work": ("work", 3), "x": ("single", 0)}),
    (f"{KEYED} pattern pane_farming {{ workers: 3, merge: ring }}",
     {"x.windows": ("read", 0), "x.work": ("work", 3), "x": ("work", 3)}),
    (f"{KEYED} pattern pane_farming {{ workers: 3, merge_workers: 2, merge: shuffled }}",
     {"x.work": ("work", 3), "x": ("keyed", 2)}),
    ("window count 10 slide 5 pattern pane_farming { workers: 3, merge_workers: 2, merge: farm }",
     {"x.work": ("work", 3), "x": ("owners", 2)}),
    (f"{KEYED} pattern window_partitioning {{ workers: 3 }}", {"x.work": ("work", 3), "x": ("single", 0)}),
    (f"{KEYED} pattern nesting {{ workers: 2, inner_workers: 3 }}", {"x.work": ("work", 6), "x": ("single", 0)}),
], ids=lambda value: value if isinstance(value, str) else "")
def test_the_plan_has_the_segments_and_degrees_that_were_asked_for(clauses, segments):
    value = "avg(price)" if "window" in clauses else "price"
    plan = pipeline.plan(pipeline.flow(program(clauses, value)))
    found = {name: (plan.segment_of(name).kind, plan.segment_of(name).degree) for name in segments}
    assert found == segments


@pytest.mark.parametrize("pattern", ["window_farming:3", "window_farming:2,style=active", "pane_farming:3",
                                     "pane_farming:3,2,merge=farm", "pane_farming:3,2,merge=shuffled",
                                     "pane_farming:3,merge=ring", "window_partitioning:3", "nesting:2,2",
                                     "key_partitioning:3"])
@pytest.mark.parametrize("window", ["window count 10 slide 5", "by symbol window time 1s slide 300ms"])
def test_the_predicted_threads_are_those_of_the_plan(window, pattern):
    if pattern.startswith("key") and "by" not in window:
        pytest.skip("key partitioning needs keys")
    plan = pipeline.plan(pipeline.flow(program(window)), Asked(4, None, (f"x={pattern}",)))
    parsers = 1
    assert plan.layout.predicted.threads == sum(max(1, segment.degree) for segment in plan.segments) + parsers


STEPS = """\
stream words = quotes |> filter price > 0.0 |> map { symbol, m: price * 2.0 }
stream totals = words |> by symbol |> update { n: f64 = 0.0 } with { n: n + m } emit { symbol, m: n }
stream counts = words |> by symbol |> scan { symbol, m: count() }
stream pairs = totals |> join words by symbol within 1s { symbol: totals.symbol, m: words.m }
sink o = totals to csv("o.csv")
sink p = counts to csv("p.csv")
sink q = pairs to csv("q.csv")
"""


@pytest.mark.parametrize("name", ["totals", "counts", "pairs"])
def test_state_that_is_no_window_can_be_named(name):
    graph = pipeline.flow(pipeline.check(HEAD + STEPS, "forced.dfl", {}))
    for word, expected in ((f"{name}=key_partitioning:4", ("keyed", 4)), (f"{name}=sequential", ("single", 0))):
        segment = pipeline.plan(graph, Asked(4, None, (word,))).segment_of(name)
        assert (segment.kind, segment.degree) == expected
    explained = pipeline.explain(HEAD + STEPS, "forced.dfl", {}, asked=Asked(4, None, (f"{name}=key_partitioning:4",)))
    rows = {row.pattern.name: row for row in explained.choice.rows[name]}
    assert rows["key_partitioning"].chosen and rows["key_partitioning"].pattern.workers == 4


def test_every_step_with_a_table_can_be_forced():
    choice = pipeline.explain(HEAD + STEPS, "forced.dfl", {}, asked=Asked(12)).choice
    for name, rows in choice.rows.items():
        for row in rows:
            asked = Asked(4, None, (f"{name}={row.pattern.name}",))
            graph = pipeline.flow(pipeline.check(HEAD + STEPS, "forced.dfl", {}))
            if row.applies:
                assert name in {one.step for one in pipeline.plan(graph, asked).decisions}
            else:
                with pytest.raises(ProgramError) as refused:
                    pipeline.plan(graph, asked)
                assert [one.code for one in refused.value.diagnostics.items] == ["E0500"]


# --- what a forced pattern leaves open --------------------------------------------------------------

COSTLY = HEAD.replace("app forced", "app costly")
MEAN = "by symbol window count 20 slide 8"


def taken(word: str, cores: int, clauses: str = MEAN, value: str = "avg(price)"):
    """The pattern that x gets, and the whole prediction."""
    text = (f"{COSTLY}operator x on quotes {clauses} -> Out {{ alternate a cost 1ms = {{ m: {value} }} }}\n"
            'sink o = x to csv("o.csv")\n')
    words = (f"x={word}",) if word else ()
    explained = pipeline.explain(text, "costly.dfl", {}, asked=Asked(cores, None, words))
    return explained.choice.best.patterns["x"].pattern, explained.choice.best


@pytest.mark.parametrize(("word", "cores", "alone"), [
    ("window_farming:batch=8", 8, "window_farming"), ("window_farming:batch=8,style=agnostic", 8, "window_farming"),
    ("window_farming:schedule=round_robin,style=agnostic", 8, "window_farming"),
    ("pane_farming:schedule=round_robin", 8, "pane_farming"), ("pane_farming:schedule=round_robin", 2, "pane_farming"),
    ("nesting:2", 12, "nesting"), ("nesting:3", 12, "nesting"), ("nesting:inner_workers=3", 12, "nesting"),
    ("nesting:inner_workers=7", 14, "nesting"), ("pane_farming:merge=ring", 8, "pane_farming"),
    ("window_partitioning:partition=round_robin", 8, "window_partitioning"),
])
def test_what_is_left_open_is_as_good_as_without_the_setting(word, cores, alone):
    """A setting that costs nothing leaves the pattern as fast as it is alone: with as many workers as pay."""
    assert taken(word, cores)[1].rate == pytest.approx(taken(alone, cores)[1].rate, rel=0.06)


def test_a_setting_in_the_program_leaves_the_same_open():
    written, _ = taken("", 8, f"{MEAN} pattern window_farming {{ batch: 8 }}")
    assert (written.workers, written.batch) == (8, 8)
    assert written == taken("window_farming:batch=8", 8)[0]


@pytest.mark.parametrize("cores", [1, 2, 3, 8])
@pytest.mark.parametrize("merge", ["farm", "shuffled"])
def test_merge_workers_that_are_asked_for_are_there(merge, cores):
    found, _ = taken(f"pane_farming:merge={merge}", cores)
    assert (found.merge, found.merge_workers) == (merge, 2) and found.workers >= min(cores, 2)


def test_a_schedule_does_not_choose_the_style():
    """Whichever style is better has it: agnostic workers can be given windows in turn, too."""
    open_, best = taken("window_farming:schedule=round_robin", 8)
    rates = {style: taken(f"window_farming:schedule=round_robin,style={style}", 8)[1].rate
             for style in ("agnostic", "active")}
    assert best.rate == pytest.approx(max(rates.values())) and rates[open_.style] == max(rates.values())
    whole, _ = taken("window_farming:schedule=round_robin", 8, value="median(price)")
    assert whole.workers == 8


@pytest.mark.parametrize("degrees", ["1,5", "2,6", "3,2", "1,2", "2,1"])
@pytest.mark.parametrize("clauses", [MEAN, "window count 20 slide 8"])
def test_merge_workers_are_predicted_as_they_are_built(degrees, clauses):
    workers, merging = map(int, degrees.split(","))
    found, best = taken(f"pane_farming:{degrees}", 8, clauses)
    assert (found.workers, found.merge_workers) == (workers, merging)
    assert found.merge in (("farm", "shuffled") if merging > 1 else ("collector", "farm", "shuffled", "ring"))
    text = f"{clauses} pattern pane_farming {{ workers: {workers}, merge_workers: {merging} }}"
    assert taken("", 8, text)[0] == found, "one meaning, in the program and on the command line"
    plan = pipeline.plan(pipeline.flow(program(clauses)), Asked(8, None, (f"x=pane_farming:{degrees}",)))
    assert plan.layout.predicted.threads == sum(max(1, segment.degree) for segment in plan.segments) + 1
    assert plan.segment_of("x").degree == (merging if merging > 1 else workers if found.merge == "ring" else 0)


@pytest.mark.parametrize(("word", "expected"), [("nesting:256", (256, 1)), ("nesting:128", (128, 2)),
                                                ("nesting:inner_workers=200", (1, 200)), ("nesting:129", (129, 1))])
def test_what_is_filled_in_keeps_the_bound(word, expected):
    found, _ = taken(word, 4)
    assert (found.workers, found.inner_workers) == expected


@pytest.mark.parametrize("word", ["x=pane_farming:3,workers=4", "x=window_farming:workers=2,workers=2",
                                  "x=nesting:2,3,inner_workers=3", "x=window_farming:batch=2,4,batch=3"])
def test_a_setting_is_given_once(word):
    """As in a program, where that is E0401."""
    with pytest.raises(ProgramError) as raised:
        request_of(program(COUNT), Asked(4, None, (word,)))
    (one,) = raised.value.diagnostics.items
    assert one.code == "E0502" and "is given twice" in one.message
