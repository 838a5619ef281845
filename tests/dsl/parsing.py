"""What the tests of the parser and the formatter share."""

from __future__ import annotations

from pathlib import Path

from dfc.dsl import ast
from dfc.dsl.diagnostics import Diagnostics
from dfc.dsl.parser import parse

CASES = sorted((Path(__file__).parents[1] / "conformance" / "cases").glob("*/program.dfl"))
PROGRAMS = [path.read_text(encoding="utf-8") for path in CASES]

# Every construct of the language once.
EVERYTHING = """\
app hft
use std.text
import "other.dfl"
param width: int = 1_000
record Quote { ts: timestamp<ms>, symbol: symbol, note: text<32>, v: f64[8][2], }
fn mid(bid: f64, ask: f64) -> f64 = (bid + ask) / 2.0
fn one() -> i64 = 1
fn fancy(x: f64) -> f64 = c("fancy.c", "fancy")
aggregate geomean(x: f64) -> f64 associative commutative {
  lower exp(total / n)
  state { total: f64, n: i64 }
  lift { total: log(x), n: 1 }
  combine { total: left.total + right.total, n: left.n + right.n }
}
aggregate sketchy(x: f64) -> f64 invertible decomposable = c("sk.c", "sketchy") state 64
source quotes: Quote = csv("quotes.csv") late to tardy slack 200ms retry event time ts
source g: Quote = generate(count: 1M, rate: 300k/s, zipf: 1.1, bid: 100.0..200.0) slack auto event time ts
source p: Quote = binary(file, block: 64KiB,) processing time
stream every = quotes
  |> filter a > 1 and not b or c == "x"
  |> map { ts, symbol, price: if a < b then [a, -b][0] else -(a - b) % 2, } -> R
  |> flatmap split(text, " ") -> Word
  |> union s, route.good
  |> join s by k, k2 = k3 within 500ms { a: s.ts } -> R
  |> broadcast s { a: s.b }
  |> by k, l
  |> window delta 3 of price |> window count 5 partial slide 2 |> window time 5s every tuple processing
  |> window session gap 10s processing |> window count n every tuple
  |> aggregate { k, n: count() } -> R
  |> scan { k, n: count() }
  |> update { total: f64 = 0.0, n: i64 = 0 } emit { symbol, mean: total / n } -> R expire after 10min
     with { total: total + price, n: n + 1 }
  |> update { n: i64 = 0 } with c("f.c", "step") emit { n }
split readings |> by k into hot when value > 30.0, cold when value < -5.0, mild otherwise
operator predict on mid, route.bad by symbol, k window count width slide step partial order key
  pattern farm { workers: 4 } expire after 1h -> Forecast {
  alternate a value 1.0 cost 2ms selectivity 0.5 = c("hft.c", "fit")
  alternate b value 0.6 = { open: first(price) }
  alternate c columns price, volume value 0.5 = c("hft.c", "fit_columns")
}
operator route on s -> { good: A, bad: B } { alternate x = c("r.c", "route") }
sink forecasts = predict order free to csv("forecasts.csv")
sink x = s |> filter a > 1 to csv("-")
goal latency p99 <= 20ms weight 2  goal throughput >= 0.95
minimize power, cores
control mpc { step: 1s, horizon: 2, forecast: holt_winters } control off control for predict mpc { step: 1s }
resources { cores: 1..12, frequency: 1.2GHz..2.0GHz step 0.1GHz, memory: 4GiB }
cloud { vm m1 { cores: 1, bandwidth: 100MB/s, billing: 1h } region eu { nodes: 50 } latency eu us 80ms }
"""


def read(text: str) -> tuple[ast.Program, list[str]]:
    """The tree of a text and the codes of its mistakes in their order."""
    diagnostics = Diagnostics()
    program = parse(text, "test.dfl", diagnostics)
    return program, [item.code for item in diagnostics.sorted()]


def clean(text: str) -> ast.Program:
    program, codes = read(text)
    assert not codes
    return program


def expr(text: str) -> ast.Expr:
    """The tree of an expression."""
    (declaration,) = clean(f"param p: f64 = {text}").declarations
    return declaration.value
