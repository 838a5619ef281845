"""examples/trading: forecasts and candlesticks against numpy and the definitions, and its ways to get quotes."""

from __future__ import annotations

import csv
import importlib.util
import itertools
import math
import random
import subprocess
import sys
from collections import defaultdict
from pathlib import Path

import numpy as np
import pytest

TRADING = Path(__file__).parents[2] / "examples" / "trading"
WIDTH, SLIDE = 1000, 25
FIXED = ("--", "--control", "off")  # no controller that goes to another alternate on a slow machine
FEW = "4 1\n0 0.5 0.3 0.15 0.05\n"  # shares of four symbols: windows fill, partial ones come too
RATES = "3\n0 3000\n1 2000\n2 2500\n"


def script(name: str):
    spec = importlib.util.spec_from_file_location(f"trading_{name}", TRADING / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def rows(path: Path) -> list[dict[str, str]]:
    with open(path, newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


@pytest.fixture
def quotes(tmp_path) -> list[dict[str, str]]:
    (tmp_path / "shares.txt").write_text(FEW)
    (tmp_path / "rates.txt").write_text(RATES)
    words = ("--shares", "shares.txt", "--rates", "rates.txt", "--seed", "7")
    subprocess.run([sys.executable, TRADING / "generate.py", *words], cwd=tmp_path, check=True)
    return rows(tmp_path / "quotes.csv")


def windows(quotes: list[dict[str, str]]):
    """(symbol, its last quotes in order of time), every SLIDE quotes of a symbol."""
    seen: dict[str, list] = defaultdict(list)
    for quote in quotes:
        mine = seen[quote["symbol"]]
        mine.append(tuple(float(quote[name]) for name in ("ts", "bid", "ask", "bid_size", "ask_size")))
        if len(mine) % SLIDE == 0:
            yield quote["symbol"], sorted(mine[-WIDTH:], key=lambda one: one[0])


def test_the_fit_is_that_of_numpy(dfc, tmp_path, quotes):
    """The parabola's value one step after the last point, with points averaged a millisecond and empty sides left out.
    The quotes are put in order first, so that none is late."""
    (tmp_path / "quotes.csv").write_text(_in_order(quotes))
    assert dfc("run", TRADING / "trading.dfl", *FIXED).returncode == 0
    found, expected = rows(tmp_path / "forecasts.csv"), list(windows(rows(tmp_path / "quotes.csv")))
    assert len(found) == len(expected) > 250
    for result, (symbol, window) in zip(found, expected, strict=True):
        assert result["symbol"] == symbol and float(result["ts"]) == window[-1][0]
        for name, price, size in (("next_bid", 1, 3), ("next_ask", 2, 4)):
            assert float(result[name]) == pytest.approx(fitted(window, price, size), rel=1e-7)


def _in_order(quotes: list[dict[str, str]]) -> str:
    ordered = sorted(quotes, key=lambda quote: int(quote["ts"]))
    return "\n".join([",".join(ordered[0]), *(",".join(quote.values()) for quote in ordered), ""])


def fitted(window: list[tuple], price: int, size: int) -> float:
    by_time = defaultdict(list)
    for quote in window:
        if quote[size] > 0:
            by_time[quote[0]].append(quote[price])
    times = np.array(list(by_time), float)
    prices = np.array([np.mean(group) for group in by_time.values()])
    if len(times) <= 3:
        return [quote[price] for quote in window if quote[size] > 0][-1]
    scaled = (times - times[0]) / (times[-1] - times[0])
    answer, *_ = np.linalg.lstsq(np.vander(scaled, 3, increasing=True), prices, rcond=None)
    at = 1 + 1 / (len(times) - 1)
    return float(answer @ [1, at, at * at])


@pytest.mark.parametrize("alternate", ["regression", "average"])
def test_candlesticks_are_of_the_last_slide(dfc, tmp_path, quotes, alternate):
    (tmp_path / "quotes.csv").write_text(_in_order(quotes))
    assert dfc("run", TRADING / "trading.dfl", *FIXED, "--alternate", f"predict={alternate}").returncode == 0
    for result, (_, window) in zip(rows(tmp_path / "forecasts.csv"), windows(rows(tmp_path / "quotes.csv")),
                                   strict=True):
        prices = middles(window)[-SLIDE:]
        known = [price for price in prices if not math.isnan(price)]
        expected = (known[0], max(known), min(known), known[-1])
        assert [float(result[name]) for name in ("open", "high", "low", "close")] == pytest.approx(expected)
        if alternate == "average":
            assert float(result["next_bid"]) == pytest.approx(weighted(window[-SLIDE:], 1, 3))


def middles(window: list[tuple]) -> list[float]:
    bid = ask = math.nan
    found = []
    for quote in window:
        bid, ask = quote[1] if quote[3] > 0 else bid, quote[2] if quote[4] > 0 else ask
        found.append(ask if math.isnan(bid) else bid if math.isnan(ask) else (bid + ask) / 2)
    return found


def weighted(window: list[tuple], price: int, size: int) -> float:
    return sum(q[price] * q[size] for q in window) / sum(q[size] for q in window)


def test_a_side_that_was_never_quoted_has_no_forecast(dfc, tmp_path):
    lines = [f"{i},A,{10 + i % 3},0,5,0" for i in range(50)]
    (tmp_path / "quotes.csv").write_text("\n".join(["ts,symbol,bid,ask,bid_size,ask_size", *lines, ""]))
    assert dfc("run", TRADING / "trading.dfl", *FIXED).returncode == 0
    for result in rows(tmp_path / "forecasts.csv"):
        assert result["next_ask"] == "nan" and 9 < float(result["next_bid"]) < 13
        assert 10 <= float(result["low"]) <= float(result["high"]) <= 12


def test_generated_quotes_follow_rates_and_shares(quotes):
    counts = defaultdict(int)
    for quote in quotes:
        counts[quote["symbol"]] += 1
    assert len(quotes) == 7500
    assert sorted(counts.values(), reverse=True) == pytest.approx([3750, 2250, 1125, 375], rel=0.15)
    late = sum(int(quote["ts"]) >= 3000 for quote in quotes)
    assert late == 0 and sum(int(quote["ts"]) < 1000 for quote in quotes) == pytest.approx(3000, rel=0.02)


def test_the_walk_and_the_skew_have_the_figures_of_the_market():
    """Start 300,000/s, root mean square of a step in a second 16,554; shares of the most traded symbols."""
    generate = script("generate")
    rates = [rate for _, rate in itertools.islice(generate.walk(random.Random(1)), 6000)]
    seconds = [rates[at] for at in range(0, len(rates), 10)]
    steps = [b - a for a, b in itertools.pairwise(seconds)
             if generate.RATE_LOW < min(a, b) and max(a, b) < generate.RATE_HIGH]
    assert rates[0] == 300_000
    assert math.sqrt(sum(step * step for step in steps) / len(steps)) == pytest.approx(16_554, rel=0.1)
    shares = generate.probabilities()
    assert len(shares) == 2836 and sum(shares) == pytest.approx(1)
    assert [sum(shares[:n]) for n in (1, 10, 100, 1000)] == pytest.approx([0.0287, 0.163, 0.448, 0.914], rel=1e-6)


def test_recorded_quotes_are_converted(tmp_path):
    (tmp_path / "recorded.csv").write_text("time_ms,symbol,bid_price_x1e4,bid_size,ask_price_x1e4,ask_size,exchange\n"
                                           "34200020,AIG,490300,100,0,0,Q\n34200021,AIG,0,0,490812,600,P\n")
    said = subprocess.run([sys.executable, TRADING / "from_quotes.py", "recorded.csv"], cwd=tmp_path, check=True,
                          capture_output=True, text=True).stdout
    assert said.splitlines() == ["ts,symbol,bid,ask,bid_size,ask_size", "34200020,AIG,49.03,0.0,100,0",
                                 "34200021,AIG,0.0,49.0812,0,600"]


FORECASTS = "symbol,ts,open,high,low,close,next_bid,next_ask\n"


@pytest.mark.parametrize(("words", "text", "said"), [
    (("from_quotes.py", "in"), None, "in: No such file or directory"),
    (("from_quotes.py", "in"), "", "in: it is empty: the first line is the header"),
    (("from_quotes.py", "in"), "header\n1,A,1,1,1,1,Q\n2,A,x,1\n", "in: line 3 is no quote: 2,A,x,1"),
    (("picture.py", "in"), None, "in: No such file or directory"),
    (("picture.py", "in"), "", "in: no forecasts to draw"),
    (("picture.py", "in"), FORECASTS + "A,1,1,1,1\n", "in: line 2 is no forecast"),
    (("picture.py", "in"), "ts,symbol\n1,A\n", "in: no column open, high, low, close, next_bid, next_ask: it does not "
                                               "look like what the program writes"),
    (("generate.py", "--rates", "in"), None, "in: No such file or directory"),
    (("generate.py", "--rates", "in"), "", "in: no line `second rate`"),
    (("generate.py", "--rates", "in"), "0 many\n", "in: could not convert string to float: 'many'"),
    (("generate.py", "--shares", "in"), "", "in: 0 symbols, but 0 shares"),
    (("generate.py", "--shares", "in"), "3 1\n0 0.5 0.5\n", "in: 3 symbols, but 2 shares"),
    (("generate.py", "--count", "5", "--output", "nowhere/x"), None, "nowhere/x: No such file or directory"),
], ids=lambda value: " ".join(value) if isinstance(value, tuple) else repr(value))
def test_wrong_input_is_one_line(tmp_path, words, text, said):
    if text is not None:
        (tmp_path / "in").write_text(text)
    script, *rest = words
    answer = subprocess.run([sys.executable, TRADING / script, *rest], cwd=tmp_path, capture_output=True, text=True)
    assert (answer.returncode, answer.stderr) == (1, f"{said}\n")


def test_a_result_that_is_lost_or_changed_is_noticed(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(TRADING)
    live = script("live")
    for name, text in (("regression", "h\na,1\nb,2\n"), ("average", "h\na,1\nb,3\n"), ("mixed", "h\na,1\nb,3\n"),
                       ("short", "h\na,1\n"), ("long", "h\na,1\nb,2\nb,2\n"), ("other", "h\na,1\nb,4\n")):
        (tmp_path / f"{name}.csv").write_text(text)
    assert live.compared(tmp_path, "mixed").startswith("2 results (1 of either, 1 of average)")
    for name in ("short", "long", "other"):
        with pytest.raises(SystemExit):
            live.compared(tmp_path, name)


@pytest.mark.slow
def test_nothing_is_lost_while_the_controller_works(tmp_path):
    """The demonstration, in a hurry: it ends with an error if a result is missing or of no alternate."""
    words = ("--dfc", Path(sys.executable).parent / "dfc", "--folder", tmp_path, "--hold", "2", "--cycles", "1")
    answer = subprocess.run([sys.executable, TRADING / "live.py", *words], capture_output=True, text=True, timeout=300)
    assert answer.returncode == 0 and answer.stdout.count("the same as at a fixed degree") == 2, answer.stderr
    assert (tmp_path / "workers.html").stat().st_size > 1000
