"""Sums of floats: which layouts add in the order of the interpreter, and so give its very digits (docs/LANGUAGE.md)."""

from __future__ import annotations

import random
from pathlib import Path

from dfc.compiler import interpret
from dfc.compiler.select.asked import Asked

from tests.differential import native
from tests.differential.test_patterns import with_parts

TUMBLING, SLIDING = "window count 40", "window count 40 slide 10"
SUM, ABOVE = "sum(v)", "sum(if v > avg(v) then v else 0.0)"
WHOLE = "window_farming:2,style=agnostic"
THE_SAME = [*((TUMBLING, SUM, pattern) for pattern in (
                "sequential", "key_partitioning:3", WHOLE, "window_farming:2,style=active", "pane_farming:3",
                "pane_farming:2,merge=ring")),
            (SLIDING, SUM, WHOLE), (SLIDING, ABOVE, "sequential"), (SLIDING, ABOVE, WHOLE)]
NEARLY = [(SLIDING, SUM, "sequential"), (SLIDING, SUM, "pane_farming:2"), (TUMBLING, SUM, "window_partitioning:3"),
          (TUMBLING, SUM, "nesting:2,2")]


def test_digits(tmp_path: Path) -> None:
    """Tuples come in the order of their times."""
    cases, rng = [*THE_SAME, *NEARLY], random.Random(3)
    text = "app rounding\nrecord R { ts: timestamp<ms>, k: i32, v: f64 }\n" + "".join(
        f'source in_{n}: R = csv("in.csv") event time ts\n'
        f"stream s_{n} = in_{n} |> by k |> {window} |> aggregate {{ k, m: {value} }}\n"
        f'sink out_{n} = s_{n} to csv("out_{n}.csv")\n' for n, (window, value, _) in enumerate(cases))
    words = tuple(f"s_{n}={pattern}" for n, (_, _, pattern) in enumerate(cases))
    program = native.build(text, tmp_path, 7, Asked(patterns=words))
    rows = (f"{ts},{rng.randrange(3)},{rng.randrange(1000) / 1000}" for ts in range(600))
    (tmp_path / "in.csv").write_text("\n".join(("ts,k,v", *rows, "")))
    expected = interpret.run(program.typed, folder=tmp_path)
    native.compare(program, expected, with_parts(native.run(program, [])))
    same = [(tmp_path / f"out_{n}.csv").read_text().splitlines() == list(expected.csv_lines(f"out_{n}"))
            for n in range(len(cases))]
    assert [case for case, one in zip(cases, same, strict=True) if one] == THE_SAME
