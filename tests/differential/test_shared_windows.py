"""Random windows over one stream share their panes, however short, and give what the interpreter gives.

DFC_TEST_SEED repeats a run; DFC_SHARED_PROGRAMS says how many programs each part tries.
"""

from __future__ import annotations

import os

import pytest
from dfc.compiler import pipeline
from dfc.compiler.select import sharing
from hypothesis import strategies as st

from tests.differential import test_more_programs
from tests.differential.inputs import shapes
from tests.differential.more_programs import MoreBuilder, MoreCase, file_of
from tests.differential.own_code import OWN_C
from tests.differential.programs import UNITS
from tests.differential.trying import try_examples

COUNT = int(os.environ.get("DFC_SHARED_PROGRAMS", "20"))


@st.composite
def window_cases(draw, most_rows: int = 200) -> MoreCase:
    """A source, perhaps something before the windows, and what joins or follows them."""
    builder = MoreBuilder(draw, draw(st.sampled_from(UNITS)))
    builder.source()
    for step in draw(st.sampled_from(((), (), ("map",), ("aggregate",)))):
        getattr(builder, step)()
    builder.windows()
    for step in draw(st.lists(st.sampled_from(("union", "join", "aggregate", "scan", "windows")), max_size=2)):
        getattr(builder, step)()
    sinks = builder.sinks()
    inputs = tuple({f"{source.name}.csv": file_of(source, draw(shapes(most_rows, number == 0)))
                    for source in builder.sources} for number in range(2))
    return MoreCase(builder.text(), tuple(sinks), tuple(builder.alternates), inputs, ((), ()),
                    "\n".join([OWN_C, *builder.c]))


@pytest.mark.parametrize("part", range(1))
def test_shared_windows(part: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sharing, "MOST_TAKEN", 1000)
    shares = 0

    def try_one(case: MoreCase) -> None:
        nonlocal shares
        graph = pipeline.flow(pipeline.check(case.text, "program.dfl", {}))
        shares += bool(pipeline.plan(graph).shared)
        test_more_programs.check_case(case, test_more_programs.ROUNDS[part])

    try_examples(try_one, part, COUNT, window_cases())
    assert shares > 0
