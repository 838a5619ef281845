"""A small program with a profile, and a search over it that takes a second."""

from __future__ import annotations

import json
from pathlib import Path

APP = """\
app app
record T { ts: timestamp<ms>, key: i64, x: f64 }
record R { key: i64, m: f64 }
source s: T = csv("in.csv") event time ts
operator means on s by key window count 10 slide 5 -> R {
  alternate exact value 1.0 = { key, m: median(x) }
  alternate rough value 0.5 = { key, m: avg(x) }
}
sink out = means to csv("out.csv")
goal latency mean <= 20ms
minimize cores
control mpc { step: 1s, horizon: 2, gamma: 0.3 }
resources { cores: 1..6 }
"""
RATES = [400.0] * 10 + [1500.0] * 10 + [300.0] * 10 + [1200.0] * 8
MILLISECOND = 1e6


def profile_text(**changes) -> str:
    data = {"schema": 2, "app": "app", "from": "trace", "machine": {},
            "sources": {"s": {"rate": sum(RATES) / len(RATES), "rows": 1, "rejected": 0, "start": 0.0,
                              "seconds": float(len(RATES)),
                              "arrivals": {"series": [{"seconds": 1.0, "rates": RATES}]}}},
            "operators": {"means": {"costs": {"exact": {"tuple": 100, "window": 10 * MILLISECOND},
                                              "rough": {"tuple": 100, "window": MILLISECOND}},
                                    "selectivity": 0.2, "keys": {"count": 50, "p_max": 0.05, "top": [0.05, 0.04]}}}}
    return json.dumps(data | changes)


def folder_with(path: Path) -> Path:
    (path / "app.dfl").write_text(APP)
    (path / "app.profile.json").write_text(profile_text())
    return path
