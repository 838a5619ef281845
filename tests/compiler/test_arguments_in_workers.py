"""Who computes the arguments of aggregates where one thread keeps tuples and others compute windows."""

from __future__ import annotations

import re

import pytest
from dfc.compiler import pipeline
from dfc.compiler.select.asked import Asked

HEAD = """app arguments
record R { k: i32, x: f64, y: f64, a: i64, b: i64, v: f64[50] }
source in: R = csv("in.csv")
fn wave(x: f64) -> f64 = sin(x) * cos(x)
fn twice(x: f64) -> f64 = x * 2.0
fn part(x: f64, b: i64) -> f64 = sin(x) / f64(10 / b)
aggregate heavy(x: f64) -> f64 associative commutative {
  state { a: f64 } lift { a: wave(x) } combine { a: left.a + right.a } lower a
}
aggregate light(x: f64) -> f64 associative commutative {
  state { a: f64 } lift { a: x * 2.0 } combine { a: left.a + right.a } lower a
}
aggregate large(x: f64) -> f64 associative commutative {
  state { a: f64, n: i64 } lift { a: x, n: 1 } combine { a: left.a + right.a, n: left.n + right.n } lower a
}
aggregate faulty(b: i64) -> f64 associative commutative {
  state { a: f64 } lift { a: wave(f64(10 / b)) } combine { a: left.a + right.a } lower a
}
"""
PATTERNS = ("window_farming:2,style=agnostic", "pane_farming:2", "pane_farming:2,merge=ring", "window_partitioning:2",
            "nesting:2,2")


def generated(aggregates: str, pattern: str, window: str = "count 100") -> str:
    text = f'{HEAD}stream w = in |> window {window} |> aggregate {{ {aggregates} }}\nsink out = w to csv("out.csv")\n'
    bundle = pipeline.generate(text, "program.dfl", {}, asked=Asked(patterns=(f"w={pattern}",)))
    return bundle.text("arguments.c")


def function(code: str, name: str) -> str:
    """The text of a C function whose name ends so."""
    return re.search(rf"^[^\n]*{name}\([^\n]*\)\n{{.*?^}}", code, re.M | re.S).group()


def columns(code: str) -> set[str]:
    """What the thread that keeps tuples keeps of each."""
    return set(re.findall(r"columns\.(\w+)\[at\]", function(code, "windows_put")))


@pytest.mark.parametrize("pattern", PATTERNS)
def test_what_takes_long_is_computed_by_workers(pattern: str) -> None:
    code = generated("s: sum(sin(x) + x), t: avg(wave(y)), h: heavy(x)", pattern)
    assert columns(code) == {"x", "y"} and "windows_values" not in code
    statements = "".join(re.findall(r"windows_compute_\w+\(struct.*?^}", code, re.M | re.S))
    assert "sin(row->x)" in statements and "fn_wave(faults, row->y)" in statements
    assert "aggregate_heavy_add(faults, &row->lifted_0, true, row->x)" in statements
    work = function(code, "w_compute" if pattern.startswith("window_farming") else "work_push")
    assert len(re.findall(r"windows_compute_\w+\(", work)) == 3


@pytest.mark.parametrize(("aggregates", "kept"), [
    ("s: sum(x)", {"x"}),
    ("s: sum(x * y)", {"value_0"}),
    ("s: sum(twice(x) + abs(y))", {"value_0"}),
    ("s: light(x)", {"lifted_0"}),
    ("s: large(x)", {"x"}),  # its state is larger than what it is made from
    ("s: sum(wave(x * y))", {"x", "y"}),
    ("s: heavy(x * y)", {"value_0"}),
    ("s: sum(wave(f64(a / 10)))", {"a"}),
    ("s: sum(if x > v[1] then wave(v[1]) else wave(v[2] + x))", {"x", "value_0", "value_1"}),  # not the array
])
def test_what_is_cheap_stays_where_it_is_kept(aggregates: str, kept: set[str]) -> None:
    assert columns(generated(aggregates, "pane_farming:2")) == kept


@pytest.mark.parametrize(("aggregates", "kept"), [
    ("s: sum(wave(f64(a / b)))", {"value_0"}),
    ("s: sum(if b > 0 then wave(f64(a / b)) else x)", {"value_0"}),
    ("s: sum(wave(f64(a / b)) * wave(f64(a / b)))", {"value_0", "value_1"}),  # as often as it is written
    ("s: sum(part(x, b))", {"value_0"}),
    ("s: faulty(b)", {"lifted_0"}),
    ("s: heavy(f64(a / b))", {"value_0"}),
])
def test_faults_are_counted_where_tuples_are_kept(aggregates: str, kept: set[str]) -> None:
    code = generated(aggregates, "pane_farming:2")
    assert columns(code) == kept
    computed = "".join(re.findall(r"windows_compute_\w+\(struct.*?^}", code, re.M | re.S))
    assert "dfrt_div" not in computed and "fn_part" not in computed and "faulty" not in computed


@pytest.mark.parametrize(("pattern", "window", "kept"), [
    ("window_farming:2,style=agnostic", "count 100 slide 50", {"value_0"}),
    ("window_farming:3,style=agnostic", "count 100 slide 50", {"x"}),
    ("window_farming:1,style=agnostic", "count 100", {"x"}),
    ("window_partitioning:3", "count 100 slide 40", {"value_0"}),
    ("window_partitioning:4", "count 100 slide 40", {"x"}),
    ("nesting:2,2", "count 100 slide 40", {"x"}),
    ("pane_farming:1", "count 100 slide 10", {"x"}),
])
def test_workers_do_not_compute_more_than_one_thread_would(pattern: str, window: str, kept: set[str]) -> None:
    """Where windows overlap they compute it again for each."""
    assert columns(generated("s: sum(wave(x))", pattern, window)) == kept
