"""What can run where, and why not. No Spark."""

from __future__ import annotations

import json

import pytest
from dfc.compiler import pipeline
from dfc.compiler.spark.overlap import Overlap
from dfc.compiler.spark.placement import KEYS, ONE, OVERLAP, RANGES, Placement, place

HEAD = """\
record Item { ts: timestamp<ms>, a: i64, b: symbol, v: f64 }
source items: Item = csv("i.csv") event time ts
source others: Item = csv("o.csv") event time ts
source plain: Item = csv("p.csv")
"""


def placed(text: str) -> Placement:
    return place(pipeline.flow(pipeline.check(HEAD + text, "p.dfl", {})))


DIVIDED = {
    "a filter": ("stream s = items |> filter v > 1.0\n", RANGES, {"items": ()}),
    "by one key": ("stream s = items |> by a |> window count 3 |> aggregate { a, n: count() }\n", KEYS,
                   {"items": ("a",)}),
    "by two": ("stream s = items |> by a, b |> scan { a, n: count() }\n", KEYS, {"items": ("a", "b")}),
    "by what both have": ("stream t = items |> by a, b |> window time 1s |> aggregate { a, b, n: count() }\n"
                          "stream s = t |> by b |> scan { b, n: sum(n) }\n", KEYS, {"items": ("b",)}),
    "through a map": ("stream s = items |> map { x: b, v } |> filter v > 0.0 |> by x |> scan { x, n: count() }\n", KEYS,
                      {"items": ("b",)}),
    "a join": ("stream s = items |> join others by a, b within 1s { a: others.a, v: items.v }\n", KEYS,
               {"items": ("a", "b"), "others": ("a", "b")}),
    "keys of other names": ("stream o = others |> map { ts, key: a, v }\n"
                            "stream s = items |> join o by a = key within 1s { k: o.key, v: items.v }"
                            " |> by k |> window count 2 |> aggregate { k, n: count() }\n", KEYS,
                            {"items": ("a",), "others": ("a",)}),
    "a union of tuples": ("stream s = items |> union others |> by a |> scan { a, n: count() }\n", KEYS,
                          {"items": ("a",), "others": ("a",)}),
    "expiry of one source": ("stream s = items |> by a |> update { n: i64 = 0 } with { n: n + 1 } emit { a, n } "
                             "expire after 1s\n", KEYS, {"items": ("a",)}),
}
WHOLE = {
    "no key": ("stream s = items |> scan { n: count() }\n", "has no `by`"),
    "a computed key": ("stream s = items |> map { k: a % 7 } |> by k |> scan { k, n: count() }\n", "are computed"),
    "a converted key": ("record Small { k: i32 }\nstream s = items |> map { k: a } -> Small |> by k |> scan "
                        "{ k, n: count() }\n", "are computed"),
    "a key of one branch only": ("stream l = items |> map { k: a }\nstream r = items |> map { k: a + 1 }\n"
                                 "stream s = l |> union r |> by k |> scan { k, n: count() }\n", "are computed"),
    "no key in common": ("stream t = items |> by a |> window time 1s |> aggregate { a, top: max(v), b: last(b) }\n"
                         "stream s = t |> by b |> scan { b, n: count() }\n", "(b) are computed"),
    "different keys": ("stream t = items |> by a |> scan { a, b, n: count() }\n"
                       "stream s = t |> by b |> scan { b, n: count() }\n", "no key in common"),
    "a broadcast": ("stream s = items |> broadcast plain { a: items.a, w: plain.v }\n", "the latest tuple of `plain`"),
    "windows mixed with tuples": ("stream t = items |> by a |> window time 1s |> aggregate { a, n: count() }\n"
                                  "stream u = items |> map { a, n: 1 }\n"
                                  "stream s = t |> union u |> by a |> scan { a, n: sum(n) }\n", "with the watermark"),
    "expiry behind windows": ("stream t = items |> by a |> window time 1s |> aggregate { a, n: count() }\n"
                              "stream s = t |> by a |> update { k: i64 = 0 } with { k: k + 1 } emit { a, k } "
                              "expire after 1s\n", "expire by a watermark"),
}


@pytest.mark.parametrize("name", DIVIDED)
def test_what_can_be_divided(name):
    text, mode, keys = DIVIDED[name]
    found = placed(text + 'sink out = s to csv("x.csv")\n')
    assert (found.mode, found.keys) == (mode, keys), found.reason


@pytest.mark.parametrize("name", WHOLE)
def test_what_can_not(name):
    text, reason = WHOLE[name]
    found = placed(text + 'sink out = s to csv("x.csv")\n')
    assert found.mode == ONE and reason in found.reason


CUT = {
    "a time window": ("stream s = items |> filter v > 0.0 |> window time 1s slide 100ms |> aggregate "
                             "{ n: count() }\n", Overlap(time=1000)),
    "computed keys": ("stream s = items |> map { k: a % 7 } |> by k |> window time 2s |> aggregate "
                             "{ k, n: count() }\n", Overlap(time=2000)),
    "a count window": ("stream s = plain |> map { v } |> window count 100 slide 25 |> aggregate "
                                "{ n: sum(v) }\n", Overlap(rows=100, slide=25)),
}
UNCUT = {
    "a count window behind a filter": ("stream s = plain |> filter v > 0.0 |> window count 9 |> aggregate "
                                                "{ n: count() }\n", "came through"),
    "a count window with late tuples": ("stream s = items |> window count 9 |> aggregate { n: count() }\n",
                                        "were late"),
    "a session": ("stream s = items |> window session gap 1s |> aggregate { n: count() }\n", "how far back"),
    "a window of windows": ("stream t = items |> by a |> window time 1s |> aggregate { a, n: count() }\n"
                                   "stream s = t |> window time 9s |> aggregate { n: sum(n) }\n", "behind another"),
    "a scan": ("stream s = items |> scan { n: count() }\n", "`s` can't be cut by ranges"),
}


@pytest.mark.parametrize("name", CUT)
def test_windows_that_are_cut_by_ranges(name):
    text, overlap = CUT[name]
    found = placed(text + 'sink out = s to csv("x.csv")\n')
    assert (found.mode, found.overlap) == (OVERLAP, overlap)
    assert "but needs no more of it than" in found.reason


@pytest.mark.parametrize("name", UNCUT)
def test_windows_that_are_not(name):
    text, reason = UNCUT[name]
    found = placed(text + 'sink out = s to csv("x.csv")\n')
    assert found.mode == ONE and reason in found.reason


def test_the_order_of_several_sources():
    def order(*names: str) -> str:
        return placed("".join(f"sink o{name} = {name} to csv(\"{name}.csv\")\n" for name in names)).order

    assert (order("items"), order("plain"), order("items", "others"), order("items", "plain")) == \
        ("index", "index", "watermark", "turn")
    mixed = placed("".join(f'sink o{name} = {name} to csv("{name}.csv")\n' for name in ("items", "others", "plain")))
    assert mixed.mode == ONE and "in turn" in mixed.reason


def test_explain_says_what_runs_where(tmp_path, dfc):
    (tmp_path / "p.dfl").write_text(HEAD + DIVIDED["by one key"][0] + 'sink out = s to csv("x.csv")\n')
    answer = dfc("explain", "p.dfl", "--engine", "spark")
    assert answer.returncode == 0 and "tasks by key" in answer.stdout and "items by a" in answer.stdout
    data = json.loads(dfc("explain", "p.dfl", "--engine", "spark", "--json").stdout)
    assert (data["mode"], data["keys"]) == ("keys", {"items": ["a"]})
    assert "--stream: yes" in answer.stdout and data["stream"].startswith("yes")


def test_explain_says_what_does_not_stream(tmp_path, dfc):
    (tmp_path / "p.dfl").write_text('app p\nrecord R { v: i64 }\nsource r: R = csv("r.csv") processing time\n'
                                    'sink out = r to csv("x.csv")\n')
    answer = dfc("explain", "p.dfl", "--engine", "spark")
    assert answer.returncode == 0 and "--stream: no, E0814: `r`: processing time" in answer.stdout
    answer = dfc("run", "p.dfl", "--engine", "spark", "--stream")
    assert answer.returncode == 1 and "E0814" in answer.stderr


def test_words_that_mean_nothing(tmp_path, dfc):
    (tmp_path / "p.dfl").write_text(HEAD + DIVIDED["a filter"][0] + 'sink out = s to csv("x.csv")\n')
    for words, said in ((["--engine", "spark", "--until", "end"], "need --stream"),
                        (["--until", "end"], "--until needs --engine spark"),
                        (["--engine", "spark", "--interpret"], "--interpret means nothing"),
                        (["--master", "local[1]"], "--master needs --engine spark"),
                        (["--stream"], "--stream needs --engine spark")):
        answer = dfc("run", "p.dfl", *words)
        assert answer.returncode == 2 and said in answer.stderr and answer.stderr.count("\n") == 1
