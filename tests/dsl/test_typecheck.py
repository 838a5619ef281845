"""The typed program: steps, their order and names, records, windows and time."""

from __future__ import annotations

from pathlib import Path

import pytest
from dfc.dsl import typed
from dfc.dsl.diagnostics import Diagnostics
from dfc.dsl.span import NOWHERE
from dfc.dsl.typecheck import check
from dfc.dsl.types import F64, I64, SYMBOL, U64, Duration, Field, Int, Record, Sequence, Text, Timestamp

from tests.dsl.checking import codes, program, shown

CONFORMANCE = sorted((Path(__file__).parents[1] / "conformance" / "cases").glob("*/program.dfl"))
RIGHT = sorted((Path(__file__).parent / "right").glob("*.dfl"))


@pytest.mark.parametrize("path", CONFORMANCE, ids=lambda path: path.parent.name)
def test_conformance_programs_are_clean(path):
    diagnostics = Diagnostics()
    assert check(path.read_text(), str(path), diagnostics) is not None
    assert not diagnostics.items


@pytest.mark.parametrize("path", RIGHT, ids=lambda path: path.stem)
def test_whole_programs_have_no_errors(path):
    """The example of the design, and a program with every construct of the language."""
    diagnostics = Diagnostics()
    assert check(path.read_text(), path.name, diagnostics) is not None
    assert {item.code for item in diagnostics.items} <= {"W0100"}


def names(text: str, **options) -> list[str]:
    return [step.name for step in program(text, **options).steps]


def fields(step: typed.Step) -> str:
    return ", ".join(f"{f.name}: {f.type}" for f in step.record.fields)


# --- steps ------------------------------------------------------------------------------------------


def test_steps_of_a_pipeline_are_numbered_before_the_last():
    assert names("stream s = quotes |> filter price > 1.0 |> filter size > 1 |> map { price }") == [
        "quotes", "s.1", "s.2", "s"]


def test_by_and_window_make_no_step():
    assert names("stream s = quotes |> by symbol |> window count 5 |> aggregate { n: count() }") == ["quotes", "s"]


def test_a_sink_ends_its_pipeline():
    result = program('sink out = quotes |> filter price > 1.0 |> map { price } to csv("o.csv") order free')
    assert [step.name for step in result.steps] == ["quotes", "out.1", "out.2", "out"]
    assert result.step("out").inputs == ("out.2",) and result.step("out").record == result.step("out.2").record
    assert result.step("out").body.order == "free"


def test_inputs_come_before_users_and_otherwise_the_order_of_declaration():
    text = ("stream a = c |> filter price > 1.0\nstream b = quotes |> filter price > 2.0\n"
            "stream c = quotes |> filter size > 1\n")
    assert names(text) == ["quotes", "c", "a", "b"]


def test_a_plain_alias_makes_no_step():
    result = program('stream a = b\nstream b = quotes\nsink out = a to csv("o.csv")')
    assert [step.name for step in result.steps] == ["quotes", "out"]
    assert result.step("out").inputs == ("quotes",)


def test_a_long_chain_declared_backwards():
    lines = [f"stream s{i} = s{i + 1} |> filter price > {i}.0" for i in range(3000)]
    result = program("\n".join([*lines, "stream s3000 = quotes"]))
    assert result.steps[-1].name == "s0" and len(result.steps) == 3001


def test_late_tuples_are_a_step():
    text = 'source q: Quote = csv("q.csv") event time ts slack 2s late to tardy\nsink late = tardy to csv("l.csv")'
    result = program(text)
    assert result.step("q").body.slack == 2000 and result.step("q").body.late_to == "tardy"
    late = typed.Step("tardy", ("q",), typed.Late(), result.step("q").record, "ms", NOWHERE)
    assert result.step("tardy") == late


def test_slack():
    assert program("").step("quotes").body.slack == 0
    result = program('source q: Quote = csv("q.csv") event time ts slack auto')
    assert result.step("q").body.slack is None


def test_split_has_a_branch_for_each_outlet():
    result = program("split quotes |> filter size > 0 into hot when price > 30.0, cold when price < -5.0,\n"
                     "  mild otherwise")
    assert [step.name for step in result.steps] == ["quotes", "hot.1", "hot", "cold", "mild"]
    mild = result.step("mild")
    assert mild.inputs == ("hot.1",) and mild.body.predicate is None
    assert [shown(p) for p in mild.body.before] == ["(price > 30.0:f64)", "(price < -5.0:f64)"]
    assert result.step("hot").body.before == ()


def test_ports_are_steps():
    result = program('record Bad { why: symbol }\n'
                     'operator route on quotes -> { good: Quote, bad: Bad } { alternate x = c("r.c", "route") }\n'
                     'sink out = route.bad |> filter why == "x" to csv("o.csv")')
    assert [step.name for step in result.steps] == ["quotes", "route", "route.good", "route.bad", "out.1", "out"]
    assert result.step("route.bad").body == typed.Port("bad") and result.step("route.bad").record.name == "Bad"
    assert [name for name, _ in result.step("route").body.ports] == ["good", "bad"]
    assert result.step("out.1").inputs == ("route.bad",)
    assert result.files == ("program.dfl", "r.c")


def test_several_inputs_of_an_operator_are_united():
    result = program("stream a = quotes |> filter size > 1\n"
                     "operator o on quotes, a window count 5 { alternate x = { n: count() } }")
    assert result.step("o").inputs == ("o.1",) and result.step("o.1").inputs == ("quotes", "a")
    assert isinstance(result.step("o.1").body, typed.Union_)


def test_union_puts_fields_in_order():
    result = program("stream a = quotes |> map { price, size }\nstream b = quotes |> map { size, price }\n"
                     "stream s = a |> union b")
    assert [step.name for step in result.steps] == ["quotes", "a", "b", "s.1", "s"]
    assert result.step("s").inputs == ("a", "s.1") and fields(result.step("s.1")) == "price: f64, size: i32"


# --- records ----------------------------------------------------------------------------------------


def test_inferred_records_are_named_after_their_step():
    result = program("record Mid { x: f64 }\nstream mid = quotes |> map { price } |> map { y: price }\n"
                     "stream mid_price = quotes |> map { price }")
    assert [record.name for record in result.records] == ["Quote", "Mid", "Mid1", "Mid_2", "MidPrice"]


def test_inferred_types():
    step = program('stream s = quotes |> map { ts, size, half: size / 2, k: "hot", p: price * size, id }').step("s")
    assert fields(step) == "ts: timestamp<ms>, size: i32, half: i64, k: symbol, p: f64, id: u64"


def test_a_declared_record_takes_values_as_its_fields_do():
    step = program('record Row { a: i8, b: text<4>, c: f32, d: timestamp<us> }\n'
                   'stream s = quotes |> map { d: ts, c: price, b: symbol, a: size } -> Row').step("s")
    assert step.record.name == "Row"
    assert [shown(v) for v in step.body.construct.values] == [
        "i8(size)", "text<4>(symbol)", "f32(price)", "timestamp<us>(ts)"]


def test_a_string_literal_is_text_where_text_is_declared():
    step = program('record Row { b: text<4> }\nstream s = quotes |> map { b: "ab" } -> Row').step("s")
    assert step.body.construct.values[0] == typed.Literal("ab", Text(4), NOWHERE)


def test_keys_need_not_be_written_into_a_declared_record():
    result = program('record Row { symbol: symbol, n: i64 }\n'
                     'operator o on quotes by symbol window count 5 -> Row { alternate a = { n: count() } }\n'
                     'stream s = quotes |> by symbol |> scan { n: count() } -> Row')
    assert [shown(v) for v in result.step("o").body.alternates[0].body.values] == ["symbol", "count()"]
    assert [shown(v) for v in result.step("s").body.construct.values] == ["symbol", "count()"]


# --- windows and aggregates -------------------------------------------------------------------------


@pytest.mark.parametrize(("written", "window"), [
    ("count 100", typed.CountWindow(100, 100, False, None)),
    ("count 100 slide 30 partial", typed.CountWindow(100, 30, True, None)),
    ("count 4 every tuple", typed.CountWindow(4, 1, False, None, True)),
    ("count width * 2", typed.CountWindow(20, 20, False, None)),
    ("time 60s", typed.TimeWindow(60_000, 60_000, None)),
    ("time 1min slide 500ms", typed.TimeWindow(60_000, 500, None)),
    ("time gap * 3 slide gap", typed.TimeWindow(6_000, 2_000, None)),
    ("time 5s processing", typed.TimeWindow(5_000_000_000, 5_000_000_000, None, False, True)),
    ("session gap 10s", typed.SessionWindow(10_000, None)),
])
def test_windows(written, window):
    text = ("param width: int = 10\nparam gap: duration = 2s\n"
            f"stream s = quotes |> window {written} |> aggregate {{ n: count() }}")
    assert program(text).step("s").body.window == window


@pytest.mark.parametrize(("written", "type_"), [
    ("count()", I64), ("sum(size)", I64), ("sum(id)", U64), ("sum(price)", F64), ("avg(size)", F64),
    ("min(size)", Int(32, True)), ("max(ts)", Timestamp("ms")), ("first(symbol)", SYMBOL), ("median(size)", F64),
    ("quantile(price, 0.5)", F64), ("stddev(price)", F64), ("ewma(price, 0.2)", F64), ("window_start", Timestamp("ms")),
    ("max(price) - min(price)", F64), ("sum(ts - ts)", Duration("ms")), ("count() / 2", I64), ("symbol", SYMBOL),
    ("if count() > 1 then 1 else 2", I64),
])
def test_aggregates(written, type_):
    step = program(f"stream s = quotes |> by symbol |> window time 5s |> aggregate {{ x: {written} }}").step("s")
    assert step.record.fields == (Field("x", type_),)


def test_values_of_aggregates_are_cast():
    step = program("stream s = quotes |> scan { a: sum(size), b: avg(size), c: max(size), q: sum(size + 1) }").step("s")
    assert [shown(v) for v in step.body.construct.values] == [
        "sum(i64(size))", "avg(f64(size))", "max(size)", "sum((i64(size) + 1:i64))"]


def test_user_defined_aggregate():
    result = program("aggregate mean(x: f64) -> f64 associative commutative {\n"
                     "  state { total: f64, n: i64 } lift { n: 1, total: x }\n"
                     "  combine { total: left.total + right.total, n: left.n + right.n } lower total / n }\n"
                     "stream s = quotes |> window count 5 |> aggregate { m: mean(size) }")
    mean = result.aggregates[0]
    assert [shown(e) for e in mean.lift] == ["$x", "1:i64"]
    assert [shown(e) for e in mean.combine] == ["($left.total + $right.total)", "($left.n + $right.n)"]
    assert shown(mean.lower) == "($total / f64($n))" and mean.properties == {"associative", "commutative"}
    use = result.step("s").body.alternates[0].body.values[0]
    assert shown(use) == "mean(f64(size))" and use.user


def test_join():
    result = program("stream other = quotes |> map { symbol, ask: price }\n"
                     "stream s = quotes |> join other by symbol within 500ms { symbol: other.symbol, d: ask - price }")
    join = result.step("s").body
    assert join.within == 500 and join.left_keys == join.right_keys == ("symbol",)
    assert [shown(v) for v in join.construct.values] == ["right.symbol", "(right.ask - price)"]


def test_flatmap():
    result = program('use std.text\nrecord Word { word: symbol }\nrecord Line { t: text<9> }\n'
                     'source lines: Line = csv("l.csv")\nstream s = lines |> flatmap split(t, " ") -> Word')
    body = result.step("s").body
    assert body.element == SYMBOL and body.sequence.type == Sequence(Text(9)) and result.step("s").unit is None


def test_update():
    result = program("stream s = quotes |> by symbol |> update { total: f64 = 0, n: i64 = 0 }"
                     " with { total: total + price } emit { symbol, mean: total / n } expire after 10min")
    update = result.step("s").body
    assert update.state.fields == (Field("total", F64), Field("n", I64)) and update.expire_after == 600_000
    assert [shown(e) for e in (*update.initial, *update.next)] == ["0.0:f64", "0:i64", "($total + price)", "$n"]


def test_units_of_time_follow_the_streams():
    result = program('source p: Quote = csv("p.csv") processing time\nsource n: Quote = csv("n.csv")\n'
                     "stream a = quotes |> map { price } |> window time 5s |> aggregate { n: count() }\n"
                     "stream b = p |> window time 5s |> aggregate { n: count() }")
    assert [result.step(name).unit for name in ("quotes", "p", "n", "a.1", "a", "b")] == [
        "ms", "ns", None, "ms", "ms", "ns"]


# --- settings ---------------------------------------------------------------------------------------


def test_settings_are_plain_values():
    result = program(
        'source g: Quote = generate(count: 1M, rate: 300k/s, disorder: 50ms, zipf: 1.1, price: 100.0..200.0)\n'
        '  event time ts\n'
        "goal latency p99 <= 20ms weight 2\ngoal latency <= 7ms\ngoal throughput >= 0.95\nminimize power, cores\n"
        "control mpc { step: 1s, horizon: 2, forecast: holt_winters }\n"
        "resources { cores: 1..12, frequency: 1.2GHz..2.0GHz step 0.1GHz, memory: 4GiB }\n"
        "cloud { vm small { bandwidth: 100MB/s, billing: 1h } region eu { nodes: 50 } region us { }\n"
        "  latency eu us 80ms }")
    assert result.step("g").body.connector.settings == (
        ("count", 1_000_000), ("rate", 300_000), ("disorder", 50_000_000), ("zipf", 1.1), ("price", (100.0, 200.0)))
    assert [(g.metric, g.statistic, g.op, g.bound, g.weight) for g in result.goals] == [
        ("latency", "p99", "<=", 2e7, 2.0), ("latency", "mean", "<=", 7e6, 1.0), ("throughput", "", ">=", 0.95, 1.0)]
    assert result.minimize == ("power", "cores")
    assert result.controls[0].settings == (("step", 10**9), ("horizon", 2), ("forecast", "holt_winters"))
    assert [(b.kind, b.names, b.settings) for b in result.blocks] == [
        ("resources", (), (("cores", (1, 12)), ("frequency", (1_200_000_000, 2_000_000_000, 100_000_000)),
                           ("memory", 4 << 30))),
        ("vm", ("small",), (("bandwidth", 100_000_000), ("billing", 3_600_000_000_000))),
        ("region", ("eu",), (("nodes", 50),)), ("region", ("us",), ()),
        ("latency", ("eu", "us"), (("latency", 80_000_000),))]


# --- parameters, names, files -----------------------------------------------------------------------


PARAMS = ("param width: i32 = 10\nparam twice: int = width * 2\nparam on: bool = false\nparam wait: duration<ms> = 1s\n"
          "param tag: symbol = \"x\"\nparam level: float = 1")


def test_parameters():
    result = program(PARAMS)
    assert [(p.name, p.value) for p in result.params] == [
        ("width", 10), ("twice", 20), ("on", False), ("wait", 1000), ("tag", "x"), ("level", 1.0)]


def test_parameters_from_the_command_line():
    given = {"width": "1k", "on": "true", "wait": "2.5s", "tag": "a b", "level": "-1e3"}
    result = program(PARAMS, params=given)
    assert [p.value for p in result.params] == [1000, 2000, True, 2500, "a b", -1000.0]


@pytest.mark.parametrize("given", [
    {"width": "5000000000"}, {"width": "1.5"}, {"on": "yes"}, {"wait": "5"}, {"wait": "1us"}, {"level": "x"},
    {"width": ""}, {"width": " 5"}])
def test_bad_values_from_the_command_line(given):
    assert codes(PARAMS, params=given) == ["E0106"]


def test_the_app_is_called_after_its_file():
    assert program("").name == "program" and program("app hft").name == "hft"


def test_imports_are_relative_and_read_once():
    files = {"lib/a.dfl": 'import "b.dfl"\nimport "../c.dfl"\n', "lib/b.dfl": 'import "../c.dfl"\n',
             "c.dfl": 'record Shared { n: i64 }\nfn f(x: f64) -> f64 = c("f.c", "f")\n'}
    seen = []
    result = program('import "lib/a.dfl"\nsource s: Shared = csv("s.csv")',
                     read=lambda path: seen.append(path) or files.get(path))
    assert sorted(seen) == ["c.dfl", "lib/a.dfl", "lib/b.dfl"]
    assert result.files == ("program.dfl", "lib/a.dfl", "lib/b.dfl", "c.dfl", "f.c")
    assert [record.name for record in result.records] == ["Shared", "Quote"]


def test_modules_come_from_the_folder_that_the_caller_names():
    files = {"/lib/finance.dfl": "fn mid(a: f64, b: f64) -> f64 = (a + b) / 2.0\n"}
    text = "use mine.finance\nstream s = quotes |> map { m: mid(price, 1.0) }"
    assert program(text, read=files.get, use_path={"mine": "/lib"}).functions[0].name == "mid"
    assert codes(text, read=files.get) == ["E0109"]


def test_texts_are_handed_out_for_the_renderer():
    texts: dict[str, str] = {}
    program('import "x.dfl"', read={"x.dfl": "// nothing\n"}.get, texts=texts, params={})
    assert texts["x.dfl"] == "// nothing\n" and "program.dfl" in texts


def test_mistakes_in_the_syntax_are_not_followed_by_unknown_names():
    broken = 'stream a = quotes |> filter price >\nsink out = a |> filter anything > 1 to csv("o.csv")'
    assert all(code.startswith("E00") for code in codes(broken))


def test_equality_ignores_places():
    text = "stream s = quotes |> map { price }"
    assert program(text).steps == program("\n\n" + text).steps


def test_the_record_of_a_stream_that_declares_it():
    assert program("").step("quotes").record == Record("Quote", (
        Field("ts", Timestamp("ms")), Field("symbol", SYMBOL), Field("price", F64), Field("size", Int(32, True)),
        Field("id", U64)))
