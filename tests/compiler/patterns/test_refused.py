"""Patterns that can't be forced: what is said about each, as golden text (DFC_UPDATE_GOLDEN=1 writes it anew)."""

from __future__ import annotations

import os
from functools import cache
from pathlib import Path

import pytest
from dfc.compiler import pipeline
from dfc.compiler.artifacts.graph import Graph
from dfc.compiler.patterns.forced import OPTION
from dfc.compiler.select.asked import Asked
from dfc.dsl.diagnostics import ProgramError
from dfc.dsl.render import render

FOLDER = Path(__file__).parent / "refused"
REFUSED = (
    # words that can't be followed
    "mean", "median=window_farming", "mean=window_farmin", "mean=window_farming:0", "mean=window_farming:10000",
    "mean=pane_farming:2,0", "mean=window_farming:2,merge=farm", "mean=pane_farming:2,merge=circle",
    "mean=nesting:2,2,2", "mean=nesting:2,257", "quotes=farm", "a=sequential", "total=key_partitioning",
    # what does not apply
    "each=window_farming", "all=key_partitioning", "all=nesting:outer=key_partitioning", "middle=pane_farming",
    "middle=window_partitioning", "middle=nesting", "fine=pane_farming", "moving=window_farming",
    "moving=window_partitioning", "session=window_farming", "session=pane_farming", "idle=pane_farming",
    "folded=pane_farming", "folded=window_partitioning:2,partition=round_robin",
    "edge=window_partitioning:2,partition=round_robin", "several=pane_farming", "several=window_partitioning",
    "totals=farm", "totals=window_farming", "running=key_partitioning", "running=pane_farming",
    "running.1=key_partitioning",
    # settings that contradict each other
    "mean=window_farming:2,style=active,schedule=on_demand", "mean=pane_farming:2,2,merge=collector",
    "mean=nesting:16,17",
    "mean=window_partitioning:2,reduce=synchronous", "mean=pane_farming:2,2,merge=ring",
)
TAKEN = (
    "each=farm:2", "totals=key_partitioning:4", "totals=sequential", "running=sequential", "running=auto",
    "mean=pane_farming:2,2", "mean=window_farming:256", "idle=window_farming:2",
    "idle=window_partitioning:2", "idle=nesting:2,2", "folded=window_partitioning:2", "folded=window_farming:2",
    "edge=pane_farming:2", "edge=window_partitioning:2", "several=window_farming:2", "several=key_partitioning",
    "mean=window_farming:4,batch=8,schedule=on_demand", "fine=window_partitioning:2", "moving=key_partitioning:3",
)


TEXT = (FOLDER / "program.dfl").read_text()


@cache
def graph() -> Graph:
    return pipeline.flow(pipeline.check(TEXT, "program.dfl", {}))


@cache
def refusal(word: str) -> str:
    """The text of all errors; '' when there are none."""
    try:
        pipeline.plan(graph(), Asked(2, None, (word,)))
    except ProgramError as error:
        assert all(one.severity == "error" and one.code[:3] in ("E05", "E08") for one in error.diagnostics.items)
        return render(error.diagnostics, {"program.dfl": TEXT, OPTION: word})
    return ""


def test_refusals():
    found = "\n".join(refusal(word) for word in REFUSED)
    expected = FOLDER / "program.expected"
    if os.environ.get("DFC_UPDATE_GOLDEN"):
        expected.write_text(found)
    assert found == expected.read_text()


@pytest.mark.parametrize("word", REFUSED)
def test_each_is_refused_once(word):
    assert refusal(word).count("error[") == 1


@pytest.mark.parametrize("word", TAKEN)
def test_what_applies_is_taken(word):
    assert refusal(word) == ""
