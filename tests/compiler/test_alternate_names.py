"""A record with a field `alternate` of type symbol: results say which alternate made them, in C and in the language."""

from __future__ import annotations

import pytest
from dfc.compiler import pipeline
from dfc.compiler.graph.build import build_graph
from dfc.compiler.graph.passes import run_passes
from dfc.compiler.interpret import run
from dfc.compiler.user_library import user_code
from dfc.dsl.diagnostics import ProgramError

PROGRAM = """\
app named
record Reading { k: symbol, x: f64 }
record Mean { k: symbol, alternate: symbol, mean: f64 }
source s: Reading = csv("s.csv")
operator typical on s by k window count 2 slide 2 -> Mean {
  alternate quick value 1.0 = { mean: avg(x) }
  alternate own value 0.9 = { mean: max(x), alternate: "mine" }
  alternate exact value 0.5 = c("named.c", "exact")
}
operator each on s -> Mean {
  alternate plain value 1.0 = { k, mean: x }
  alternate native value 0.5 = c("named.c", "native")
}
sink out = typical to csv("out.csv")
sink all = each to csv("all.csv")
"""
CODE = """\
#include "named.h"

bool exact(const named_typical_window *window, named_Mean *out)
{
    out->k = window->tuples[0].k;
    out->mean = window->tuples[0].x;
    return true;
}

bool native(const named_Reading *t, named_Mean *out)
{
    out->k = t->k;
    out->mean = -t->x;
    return true;
}
"""
ROWS = [("a", 1.0), ("a", 3.0)]


@pytest.mark.parametrize(("active", "wanted"), [
    ({}, ([("a", "quick", 2.0)], ("a", "plain", 1.0))),
    ({"typical": "own"}, ([("a", "mine", 3.0)], ("a", "plain", 1.0))),
    ({"typical": "exact", "each": "native"}, ([("a", "exact", 1.0)], ("a", "native", -1.0))),
])
def test_the_interpreter_says_which(tmp_path, active, wanted):
    (tmp_path / "named.c").write_text(CODE)
    graph = run_passes(build_graph(pipeline.check(PROGRAM, str(tmp_path / "named.dfl"), {})))
    results = run(graph, {"s": ROWS}, active=active, user_c=user_code(graph), check=False)
    assert (results.rows["out"], results.rows["all"][0]) == wanted


def test_only_an_operator_fills_it():
    text = PROGRAM.split("operator")[0] + 'sink out = s |> map { k, mean: x } -> Mean to csv("out.csv")\n'
    with pytest.raises(ProgramError) as refused:
        pipeline.check(text, "named.dfl", {})
    assert "the field alternate" in refused.value.diagnostics.items[0].message
