"""Chains longer than Python's stack: what `dfc check` takes also gets a graph, a plan, C and results."""

from __future__ import annotations

import pytest
from dfc.compiler import pipeline
from dfc.compiler.interpret import run

LONG = 1000
HEAD = 'app chain\nrecord R { x: i64, y: i64 }\nsource input: R = csv("in.csv")\n'
STREAMS = [f"stream s{i} = {f's{i - 1}' if i else 'input'} |> filter x != {i}\n" for i in range(LONG)]
PROGRAMS = {
    "filters": "stream s = input" + "".join(f"\n  |> filter x != {i}" for i in range(LONG)),
    "maps": "stream s = input" + "".join(f"\n  |> map {{ x: x + {i}, y }}" for i in range(LONG)),
    "streams": "".join(STREAMS) + f"stream s = s{LONG - 1}",
    "streams, the last one first": "".join(reversed(STREAMS)) + f"stream s = s{LONG - 1}",
    "splits": "".join(f"split {f's{i - 1}' if i else 'input'} into a{i} when x < {i}, s{i} otherwise\n"
                      for i in range(LONG)) + f"stream s = s{LONG - 1}",
    "unions": "".join(f"stream s{i} = {f's{i - 1}' if i else 'input'} |> filter x < {i} |> union input\n"
                      for i in range(60)) + "stream s = s59 |> filter x > 1000",
}


@pytest.mark.parametrize("kind", PROGRAMS)
def test_a_long_chain_becomes_a_program(kind: str) -> None:
    text = f'{HEAD}{PROGRAMS[kind]}\nsink out = s to csv("out.csv")\n'
    files = dict(pipeline.generate(text, "chain.dfl", {}).files)
    assert "parse_chain_R" in files["chain.c"]
    result = run(pipeline.check(text, "chain.dfl", {}), {"input": [(LONG + 5, 7), (3, 8)]}, check=False)
    assert (LONG + 5, 7) in result.rows["out"] or kind == "maps" and len(result.rows["out"]) == 2


def test_a_long_chain_has_an_explanation() -> None:
    text = f'{HEAD}{PROGRAMS["filters"]}\nsink out = s to csv("out.csv")\n'
    assert pipeline.explain(text, "chain.dfl", {}).plan == pipeline.plan(
        pipeline.flow(pipeline.check(text, "chain.dfl", {})))
