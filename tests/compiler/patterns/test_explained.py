"""What `dfc explain` says beside the table: how parts get to workers, why tuples are kept, what goals would need."""

from __future__ import annotations

import pytest
from dfc.compiler import pipeline
from dfc.compiler.select.asked import Asked

HEAD = """\
app said
record Quote { ts: timestamp<ms>, symbol: symbol, price: f64 }
record Out { m: f64 }
"""
FILE = 'source quotes: Quote = csv("quotes.csv") event time ts\n'
PACED = "source quotes: Quote = generate(rate: 50k/s, keys: 8, paced: true) event time ts\n"
KEYED = "by symbol window count 200 slide 20"


def explained(value: str, source: str = FILE, cost: str = "", words: tuple[str, ...] = (), more: str = "",
              cores: int = 4):
    text = (f"{HEAD}{source}operator x on quotes {KEYED} -> Out {{ alternate a {cost} = {{ m: {value} }} }}\n"
            f'{more}sink o = x to csv("o.csv")\n')
    return pipeline.explain(text, "said.dfl", {}, asked=Asked(cores, None, words))


@pytest.mark.parametrize(("word", "how"), [
    ("window_farming:3,style=agnostic", "to the worker that has the least to do"),
    ("window_farming:3,style=agnostic,schedule=round_robin", "to the worker whose turn it is"),
    ("window_farming:3,style=agnostic,batch=8,schedule=round_robin", "to the worker whose turn it is, 8 in a row"),
    ("pane_farming:3,merge=collector", "to the worker that has the least to do"),
    ("pane_farming:3,merge=collector,schedule=round_robin", "to the worker whose turn it is"),
    ("window_partitioning:3", "to every worker its part of the window"),
    ("nesting:2,2,outer=window_farming", "to every worker of the team whose turn it is its part of the window"),
    ("nesting:2,2,outer=key_partitioning", "to every worker of the key's team its part of the window"),
])
def test_how_work_gets_to_workers(word, how):
    found = explained("avg(price)", words=(f"x={word}",)).as_data()["edges"]
    assert [edge["how"] for edge in found if edge["routing"] == "task"] == [how]


@pytest.mark.parametrize(("value", "because"), [
    ("sum(if price > avg(price) then price else 0.0)", "because sum compares tuples with avg of the whole window"),
    ("median(price)", "because of median"),
    ("median(price) + sum(if price > max(price) - min(price) then 1.0 else 0.0)",
     "because of median, and because sum compares tuples with max, min of the whole window"),
])
def test_why_tuples_are_kept(value, because):
    (line,) = (one for one in explained(value).as_data()["otherwise"] if "keeps its tuples" in one)
    assert f"`x` keeps its tuples {because}; " in line


@pytest.mark.parametrize(("value", "words", "expected"), [
    ("median(price)", (), "no number of cores meets the latency goal of 1 ms: a result takes 5.01 ms when none waits, "
                          "5.01 ms of it one window of x, which no pattern that applies divides"),
    ("avg(price)", ("x=window_farming:style=agnostic",), "with window_farming:"),
])
def test_a_latency_that_no_number_of_cores_gives(value, words, expected):
    needed = explained(value, PACED, "cost 5ms", words, "goal latency mean <= 1ms\n").choice.needed
    assert expected in needed and "would meet the goals" not in needed
    assert "no number of cores meets the latency goal of 1 ms" in needed


def test_what_the_rate_needs_is_said_where_the_latency_is_out_of_reach():
    needed = explained("median(price)", PACED, "cost 5ms", (), "goal latency mean <= 1ms\n").choice.needed
    assert needed.endswith("; 13 cores would take the rate (x: window_farming:13)")
    enough = explained("median(price)", PACED, "cost 5ms", (), "goal latency mean <= 1ms\n", cores=13).choice
    assert "would take the rate" not in enough.needed and enough.best.rate > 50_000


def test_a_latency_that_more_cores_give():
    needed = explained("avg(price)", PACED, "cost 5ms", (), "goal latency mean <= 1ms\n", cores=1).choice.needed
    assert "cores would meet the goals (x: " in needed
