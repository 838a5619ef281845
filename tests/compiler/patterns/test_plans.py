"""How operators are divided: segments, edges and stores of the plan, as golden text.

DFC_UPDATE_GOLDEN=1 writes it anew.
"""

from __future__ import annotations

import os
from functools import cache
from pathlib import Path

import pytest
from dfc.compiler import pipeline
from dfc.compiler.artifacts.graph import Graph
from dfc.compiler.artifacts.plan import to_text
from dfc.compiler.select.asked import Asked
from dfc.compiler.select.explain import explanation
from dfc.compiler.select.explain import to_text as explained_text

FOLDER = Path(__file__).parent / "plans"
WORDS = (
    ("mean=window_farming:3,style=agnostic",), ("mean=window_farming:3,style=active",),
    ("mean=pane_farming:3,merge=collector",), ("mean=pane_farming:3,merge=ring",),
    ("mean=pane_farming:3,2,merge=farm",), ("mean=pane_farming:3,2,merge=shuffled",),
    ("all=pane_farming:3,2,merge=shuffled",), ("mean=window_partitioning:3",), ("mean=nesting:2,3",),
    ("mean=key_partitioning:4", "all=window_farming:2"),
    ("mean=pane_farming:2,2,merge=farm", "all=window_farming:2,style=active"),
)


@cache
def graph() -> Graph:
    return pipeline.flow(pipeline.check((FOLDER / "program.dfl").read_text(), "program.dfl", {}))


def planned(words: tuple[str, ...]) -> str:
    """The plan without what it predicts."""
    lines = to_text(pipeline.plan(graph(), Asked(4, None, words))).splitlines()
    shown = (f"  {line}" for line in lines if not line.startswith(("layout", "pattern")))
    return "\n".join([" ".join(words), *shown, ""])


def test_plans():
    found = "\n".join(planned(words) for words in WORDS)
    expected = FOLDER / "program.expected"
    if os.environ.get("DFC_UPDATE_GOLDEN"):
        expected.write_text(found)
    assert found == expected.read_text()


@pytest.mark.parametrize("words", WORDS, ids=" ".join)
def test_every_plan_can_be_explained(words):
    plan = pipeline.plan(graph(), Asked(4, None, words))
    found = explanation(graph(), plan)
    said = explained_text(found)
    for name, store in plan.stores:
        assert name in ("mean", "all") and store in said
    divided = {word.split("=")[0] for word in words if "key_partitioning" not in word}
    assert ("`all` looks at the whole stream and runs in one thread" in said) == ("all" not in divided)
    assert {edge["how"] for edge in found["edges"]} and all(segment["why"] for segment in found["segments"])
