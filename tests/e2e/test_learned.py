"""Programs compiled with a profile: heavy keys begin with routes of their own, `slack auto` where the trace was, and
the results are those of the interpreter with the same profile."""

from __future__ import annotations

import json
import os
import random

import pytest

SEED = int(os.environ.get("DFC_TEST_SEED", "1"))
APP = """\
app app
record T { ts: timestamp<ms>, key: KEY, x: i64 }
record R { key: KEY, n: i64, total: i64 }
source s: T = csv("in.csv") event time ts slack auto late to tardy
operator sums on s by key window time 50ms -> R { alternate a = { key, n: count(), total: sum(x) } }
sink out = sums to csv("out.csv")
sink late = tardy to csv("late.csv")
"""


@pytest.mark.parametrize(("kind", "names"), [
    ("i64", ["-3", "7", "12", "40", "41"]), ("i32", ["-3", "7", "8", "9", "10"]),
    ("symbol", ["IBM", 'a"b', "x*/y", "\\n", "z"])])
def test_results_with_a_profile(dfc, tmp_path, kind, names):
    chance = random.Random(SEED)
    print(f"DFC_TEST_SEED={SEED}")
    (tmp_path / "app.dfl").write_text(APP.replace("KEY", kind))
    rows = [(at - chance.choice((0, 0, 0, 15, 45)), chance.choices(names, (8, 5, 2, 1, 1))[0], at)
            for at in range(3000)]
    quoted = {name: '"' + name.replace('"', '""') + '"' if '"' in name else name for name in names}
    (tmp_path / "in.csv").write_text("ts,key,x\n" + "".join(f"{ts + 1000},{quoted[key]},{x}\n" for ts, key, x in rows))
    profile = {"schema": 2, "app": "app", "from": "trace", "sources": {"s": {
        "rate": 1000.0, "disorder": {"k": 0.045, "quantiles": {"p999": 0.03}}}}, "operators": {"sums": {
            "keys": {"count": 5, "p_max": 0.47}, "key_figures": {"heavy": [[names[0], 0.47], [names[1], 0.29]]}}}}
    (tmp_path / "p.json").write_text(json.dumps(profile))
    results = []
    for words in (("--interpret",), ("--pattern", "sums=key_partitioning:3", "--", "--quiet", "--workers", "3"),
                  ("--pattern", "sums=key_partitioning:2", "--", "--quiet", "--max-workers", "4", "--reconfigure",
                   "1 workers=4 operator=sums; 2 workers=1 operator=sums")):
        answer = dfc("run", "app.dfl", "--profile", "p.json", *words)
        assert answer.returncode == 0, answer.stderr
        results.append([(tmp_path / name).read_bytes() for name in ("out.csv", "late.csv")])
    assert results[0] == results[1] == results[2]
    assert dfc("run", "app.dfl", "--interpret").returncode == 0
    assert (tmp_path / "late.csv").read_bytes().count(b"\n") > results[0][1].count(b"\n")
