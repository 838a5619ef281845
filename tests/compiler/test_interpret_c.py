"""What is in C and no alternate of one output: aggregates, updates, functions, ports, arrays in records. The
interpreter calls the functions and gives what was computed by hand."""

from __future__ import annotations

from pathlib import Path

import pytest
from dfc.compiler import pipeline
from dfc.compiler.graph.build import build_graph
from dfc.compiler.graph.passes import run_passes
from dfc.compiler.graph.runnable import NotRunnable
from dfc.compiler.interpret import Results, run
from dfc.compiler.user_library import user_code

HEAD = """\
app own
record Reading { ts: timestamp<ms>, k: symbol, x: f64, note: text<5> }
source s: Reading = csv("s.csv") event time ts slack 10ms
"""
ROWS = [(7, "a", 3.0, "c"), (5, "a", 1.0, "é!"), (6, "b", 9.0, "z"), (5, "a", 2.0, ""), (9, "b", 4.0, "abcde")]


def interpreted(folder: Path, text: str, code: str, rows=ROWS, with_c: bool = True) -> Results:
    (folder / "own.c").write_text(f'#include <string.h>\n#include "own.h"\n\n{code}')
    graph = run_passes(build_graph(pipeline.check(HEAD + text, str(folder / "own.dfl"), {})))
    return run(graph, {"s": rows}, user_c=user_code(graph) if with_c else None, check=False)


# --- functions --------------------------------------------------------------------------------------

FUNCTIONS = """\
fn twice(x: f64, n: i32) -> f64 = c("own.c", "twice")
fn size(t: text<5>, k: symbol) -> i64 = c("own.c", "size")
fn rest(t: text<5>) -> text<2> = c("own.c", "rest")
fn same(k: symbol) -> symbol = c("own.c", "same")
fn small(x: f64) -> bool = c("own.c", "is_small")
fn more(x: f64) -> f64 = twice(x, 3) + 1.0
stream r = s |> map { y: more(x), n: size(note, k), rest: rest(note), same: same(k), small: small(x) }
sink out = r to csv("out.csv")
"""
FUNCTIONS_C = """\
double twice(double x, int32_t n) { return x * n; }
int64_t size(dfrt_slice t, dfrt_symbol k) { return (int64_t)(t.size * 10 + dfrt_symbol_text(k).size); }
dfrt_slice rest(dfrt_slice t) { return t.size ? (dfrt_slice){t.data + 1, t.size - 1} : t; }
dfrt_symbol same(dfrt_symbol k) { return k; }
bool is_small(double x) { return x < 3; }
"""


def test_functions(tmp_path):
    rows = [(0, "a", 3.0, "c"), (1, "", 1.0, "abcde"), (2, "bb", -2.0, "")]
    assert interpreted(tmp_path, FUNCTIONS, FUNCTIONS_C, rows).rows["out"] == [
        (10.0, 11, "", "a", False), (4.0, 50, "bc", "", True), (-5.0, 2, "", "bb", True)]


def test_without_the_library_the_function_is_named(tmp_path):
    with pytest.raises(NotRunnable) as refused:
        interpreted(tmp_path, FUNCTIONS, FUNCTIONS_C, with_c=False)
    assert "function `twice`" in refused.value.diagnostics.items[0].message


# --- aggregates -------------------------------------------------------------------------------------

JOINED = """\
aggregate joined(x: f64, note: text<5>) -> text<12> associative = c("own.c", "joined") state 24
stream r = s |> by k |> window WINDOW |> aggregate { k, n: count(), joined: joined(x, note) }
sink out = r to csv("out.csv")
"""
JOINED_C = """\
struct joined { int64_t size; char text[16]; };

void joined_add(void *state, double x, dfrt_slice note)
{
    struct joined *now = state;
    now->text[now->size++] = (char)('0' + (int)x);
    memcpy(now->text + now->size, note.data, note.size);
    now->size += (int64_t)note.size;
}

void joined_combine(void *left, const void *right)
{
    struct joined *now = left;
    const struct joined *later = right;
    memcpy(now->text + now->size, later->text, (size_t)later->size);
    now->size += later->size;
}

dfrt_slice joined_lower(const void *state)
{
    const struct joined *now = state;
    return (dfrt_slice){now->text, (size_t)now->size};
}
"""


@pytest.mark.parametrize(("window", "expected"), [
    ("count 3", [("a", 3, "1é!23c")]),
    ("time 100ms", [("a", 3, "1é!23c"), ("b", 2, "9z4abcde")]),
    ("count 2 every tuple",
     [("a", 1, "3c"), ("a", 2, "1é!3c"), ("b", 1, "9z"), ("a", 2, "1é!2"), ("b", 2, "9z4abcde")]),
])
def test_an_aggregate_takes_tuples_by_event_time(tmp_path, window, expected):
    assert interpreted(tmp_path, JOINED.replace("WINDOW", window), JOINED_C).rows["out"] == expected


# --- update -----------------------------------------------------------------------------------------

UPDATE = """\
stream r = s |> by k |> update { n: i32 = 5, high: f64 = 2.0, seen: symbol[2] = ["", "x"], last: text<5> = "-" }
  with c("own.c", "next_state") emit { k, n, high, seen, last, here: x }
sink out = r to csv("out.csv")
"""
UPDATE_C = """\
void next_state(own_r_state *state, const own_Reading *tuple)
{
    state->n++;
    if (tuple->x > state->high) state->high = tuple->x;
    state->seen[0] = state->seen[1];
    state->seen[1] = tuple->k;
    (void)dfrt_text_assign(&state->last, 5, dfrt_text_of(&tuple->note));
}
"""


def test_an_update(tmp_path):
    assert interpreted(tmp_path, UPDATE, UPDATE_C).rows["out"] == [
        ("a", 6, 3.0, ("x", "a"), "c", 3.0), ("a", 7, 3.0, ("a", "a"), "é!", 1.0), ("b", 6, 9.0, ("x", "b"), "z", 9.0),
        ("a", 8, 3.0, ("a", "a"), "", 2.0), ("b", 7, 9.0, ("b", "b"), "abcde", 4.0)]


# --- ports ------------------------------------------------------------------------------------------

PORTS = """\
record Good { k: symbol, total: f64, both: f64[2] }
record Bad { note: text<5>, at: timestamp<ms> }
operator route on s CLAUSES -> { good: Good, bad: Bad } {
  alternate it = c("own.c", "route")
}
sink out = route.good to csv("out.csv")
sink bad = route.bad to csv("bad.csv")
"""
ROUTE_C = """\
bool route(const own_Reading *tuple, own_route_outputs *result)
{
    result->has_good = tuple->x < 4;
    result->good.k = tuple->k;
    result->good.both[1] = result->good.total = tuple->x;
    result->has_bad = tuple->x > 2;
    result->bad.at = tuple->ts;
    (void)dfrt_text_assign(&result->bad.note, 5, dfrt_text_of(&tuple->note));
    return tuple->x != 2;
}
"""
ROUTE_WINDOW_C = """\
bool route(const own_route_window *window, own_route_outputs *result)
{
    for (size_t i = 0; i < window->count; i++) {
        result->good.total += window->tuples[i].x;
        result->good.both[i % 2] += (double)window->times[i];
    }
    result->has_good = window->count > 2;
    result->has_bad = window->count <= 2;
    result->good.k = window->tuples[0].k;
    result->bad.at = window->end;
    return true;
}
"""


def test_ports_of_single_tuples(tmp_path):
    given = interpreted(tmp_path, PORTS.replace(" CLAUSES", ""), ROUTE_C)
    assert given.rows["out"] == [("a", 3.0, (0.0, 3.0)), ("a", 1.0, (0.0, 1.0))]
    assert given.rows["bad"] == [("c", 7), ("z", 6), ("abcde", 9)]
    assert [given.counters[name].given for name in ("route", "route.good", "route.bad")] == [4, 2, 3]


def test_ports_of_windows(tmp_path):
    given = interpreted(tmp_path, PORTS.replace("CLAUSES", "by k window time 20ms"), ROUTE_WINDOW_C)
    assert given.rows == {"out": [("a", 6.0, (12.0, 5.0))], "bad": [("", 20)]}


# --- arrays in records ------------------------------------------------------------------------------

ARRAYS = """\
record In { m: i16[2][2], names: text<3>[2], flags: bool[2] }
record Out { m: i16[2][2], names: text<3>[2], flags: bool[2] }
source t: In = csv("t.csv")
operator turned on t -> Out {
  alternate it = c("own.c", "turned")
}
sink out = turned to csv("out.csv")
"""
ARRAYS_C = """\
bool turned(const own_In *tuple, own_Out *result)
{
    for (int i = 0; i < 2; i++) {
        for (int j = 0; j < 2; j++) result->m[i][j] = tuple->m[j][i];
        memcpy(&result->names[i], &tuple->names[1 - i], sizeof result->names[i]);
        result->flags[i] = !tuple->flags[i];
    }
    return true;
}
"""


def test_arrays_of_records(tmp_path):
    (tmp_path / "own.c").write_text(f'#include <string.h>\n#include "own.h"\n\n{ARRAYS_C}')
    graph = run_passes(build_graph(pipeline.check("app own\n" + ARRAYS, str(tmp_path / "own.dfl"), {})))
    rows = [(((1, 2), (3, -4)), ("é", ""), (True, False))]
    assert run(graph, {"t": rows}, user_c=user_code(graph), check=False).rows["out"] == [
        (((1, 3), (2, -4)), ("", "é"), (False, True))]
