"""Places where machines differ: ends of number ranges and of the time axis, NaN, infinities, cut texts, odd windows."""

from __future__ import annotations

import itertools
import random
from pathlib import Path

import pytest

from tests.differential.native import LAYOUTS, build, check_inputs

FLOATS = ("nan", "inf", "-inf", "-0.0", "0.0", "1.5", "-1.5", "0.1", "1e300", "-1e-300", "5e-324", "1e22", "255.9",
          "-0.5", "2.5")
INTEGERS = ("0", "1", "-1", "7", "-7", "127", "-128", "9223372036854775807", "-9223372036854775808", "9007199254740993")
LOW, HIGH = -(1 << 62), 1 << 62  # the ends of the time axis
LEAST, MOST = -(1 << 63), (1 << 63) - 1


def table(header: str, lines) -> bytes:
    return "".join(f"{line}\n" for line in (header, *lines)).encode()


def pairs(values) -> list[str]:
    return [f"{a},{b}" for a, b in itertools.product(values, repeat=2)]


INTEGER_FIELDS = """s: a + b, d: a - b, p: a * b, q: a / b, r: a % b, n: -a, m: abs(a), l: least(a, b),
  g: greatest(a, b), i8: i8(a), u8: u8(a), i16: i16(a), u32: u32(a), u64: u64(a), f32: f32(a), f64: f64(a),
  uf: f32(u64(a)), c: a < b, e: a == b, uq: u64(a) / u64(b), ur: u64(a) % u64(b), ul: u64(a) < u64(b),
  nan: is_nan(f64(a / b)), big: 18446744073709551615,
  low: -9223372036854775808, mixed: a * 0.5 + b"""
FLOAT_FIELDS = """s: a + b, d: a - b, p: a * b, q: a / b, r: a % b, n: -a, m: abs(a), l: least(a, b), g: greatest(a, b),
  i8: i8(a), u8: u8(a), i64: i64(a), u64: u64(a), f32: f32(a), fl: floor(a), ce: ceil(a), ro: round(a), tr: trunc(a),
  sq: sqrt(a), lt: a < b, eq: a == b, ne: a != b, nan: is_nan(a), pw: pow(a, b), lg: log(a), l2: log2(a), l10: log10(a),
  ex: exp(a)"""
STATISTICS = """n: count(), total: sum(v), mean: avg(v), low: min(v), high: max(v), opening: first(v), closing: last(v),
  middle: median(v), q0: quantile(v, 0.0), q3: quantile(v, 0.3), q9: quantile(v, 0.9), q1: quantile(v, 1.0),
  s: stddev(v), sp: stddev_pop(v), e: ewma(v, 0.3)"""
SERIES = """n: count(), opening: first(v), closing: last(v), low: min(t), high: max(t)"""
TIMES = 'record R { t: timestamp<ms>, v: i32 }\nsource in: R = csv("in.csv") event time t\n'


def maps(type_: str, fields: str, values) -> tuple[str, dict[str, bytes]]:
    text = f'record R {{ a: {type_}, b: {type_} }}\nsource in: R = csv("in.csv")\n' \
           f'sink out = in |> map {{ a, b, {fields} }} to csv("out.csv")\n'
    return text, {"in.csv": table("a,b", pairs(values))}


def statistics(window: str, values) -> tuple[str, dict[str, bytes]]:
    """Windows, and a scan, over all triples of the values: combinations that cancel, or hold one infinity."""
    text = 'record R { t: timestamp<ms>, v: f64 }\nsource in: R = csv("in.csv") event time t\n' \
           f'sink out = in |> window {window} |> aggregate {{ {STATISTICS} }} to csv("out.csv")\n' \
           f'sink scanned = in |> by t |> scan {{ t, {STATISTICS} }} to csv("scanned.csv")\n'
    lines = [f"{number // 3},{value}" for number, value in
             enumerate(itertools.chain.from_iterable(itertools.product(values, repeat=3)))]
    return text, {"in.csv": table("t,v", lines)}


def series(window: str, times, by: str = "") -> tuple[str, dict[str, bytes]]:
    text = TIMES + f'sink out = in {by} |> window {window} |> aggregate {{ {SERIES} }} to csv("out.csv")\n'
    return text, {"in.csv": table("t,v", (f"{time},{number}" for number, time in enumerate(times)))}


CASES = {
    "integers": maps("i64", INTEGER_FIELDS, INTEGERS),
    "floats": maps("f64", FLOAT_FIELDS, FLOATS),
    "statistics of one instant": statistics("time 1ms", ("nan", "inf", "-inf", "0.5", "-2.0", "7.25")),
    "statistics that slide": statistics("time 3ms slide 2ms", ("nan", "inf", "0.5", "-2.0")),
    "statistics of counts": statistics("count 5 slide 2", ("nan", "inf", "0.5", "-2.0")),
    "statistics of sessions": statistics("session gap 2ms", ("nan", "-inf", "0.5", "-2.0")),
    "counts with pauses between them": series("count 2 slide 5", range(40)),
    "partial counts with pauses between them": series("count 2 slide 5 partial", range(40)),
    "partial counts of an odd slide": series("count 7 slide 3 partial", range(40)),
    "times before zero": series("time 7ms slide 3ms", range(-40, 40, 3)),
    "windows with pauses between them": series("time 3ms slide 7ms", range(-40, 40)),
    "equal times": series("time 4ms slide 2ms", [t // 5 for t in range(60)]),
    "sessions that touch": series("session gap 3ms", (0, 2, 5, 8, 10, 13, 15, 100, 103)),
    "texts that are cut": (
        'record R { a: text<6> }\nrecord S { a: text<3> }\nsource in: R = csv("in.csv")\n'
        'stream cut = in |> map { a } -> S\n'
        'stream n = cut |> by a |> scan { a, n: count(), l: length(a) }\nsink out = n to csv("out.csv")\n',
        {"in.csv": table("a", ("ééé", "aéé", "aaé", "abc", "abcd", '""', '","', "€€", "a€"))}),
    "a lone text that is empty or looks like more": (
        'record R { a: symbol }\nsource in: R = csv("in.csv")\nsink out = in to csv("out.csv")\n',
        {"in.csv": b'a\n""\n","\n""""\n"\r"\n"x\ny"\n" "\n'}),
}


@pytest.mark.parametrize("name", CASES)
def test_corner(name: str, tmp_path: Path) -> None:
    text, files = CASES[name]
    check_inputs(build(f"app corner\n{text}", tmp_path, 7), files)


EDGES = {
    "windows": series("time 10ms slide 4ms", (LOW, LOW + 1, LOW + 20, 0, HIGH - 20, HIGH - 2)),
    "tumbling": series("time 10ms", (LOW, LOW + 1, LOW + 20, 0, HIGH - 20, HIGH - 2)),
    "sessions": series("session gap 10ms", (LOW, LOW + 1, LOW + 20, 0, HIGH - 20, HIGH - 2)),
    "counts": series("count 2", (LOW, LOW + 1, LOW + 20, 0, HIGH - 20, HIGH - 2)),
    **{f"beyond, {window}": series(window, (LEAST, LOW - 1, LOW, LOW + 1, MOST, 0, HIGH + 1, 5, HIGH - 1, HIGH,
                                            MOST, LEAST))
       for window in ("time 10ms slide 4ms", "time 10ms", "time 4ms slide 9ms", "time 1ms", "session gap 10ms",
                      "count 2", "time 10ms every tuple", "time 6671999447d", "session gap 6671999447d",
                      "time 3000000000d slide 6671999447d")},
    "a late stream of times beyond": (
        'record R { t: timestamp<ms>, v: i32 }\n'
        'source in: R = csv("in.csv") event time t slack auto late to tardy\n'
        "stream on = in |> window session gap 6671999447d |> aggregate { n: count(), start: window_start }\n"
        "stream again = on |> window time 6671999447d |> "
        "aggregate { n: sum(n), start: window_start, end: window_end }\n"
        "stream off = tardy |> window time 7ms slide 3ms |> "
        "aggregate { n: count(), start: window_start, end: window_end }\n"
        "stream pairs = tardy |> join in by v within 10ms { v: in.v, t: tardy.t }\n"
        'sink a = again to csv("a.csv")\nsink b = off to csv("b.csv")\nsink c = pairs to csv("c.csv")\n',
        {"in.csv": table("t,v", (f"{time},{n % 2}" for n, time in enumerate(
            (LOW, MOST, LEAST, LOW + 7, LOW + 2, HIGH + 1, 0, -5, HIGH, LOW, LOW - 1, MOST))))}),
}


@pytest.mark.parametrize("name", EDGES)
def test_ends_of_the_time_axis(name: str, tmp_path: Path) -> None:
    text, files = EDGES[name]
    check_inputs(build(f"app edge\n{text}", tmp_path, 7), files)


LONG = """record R { t: timestamp<ms>, k: i32, v: f64 }
source left_: R = csv("left.csv") event time t slack 20ms late to tardy
source right_: R = csv("right.csv") event time t slack auto
stream sums = left_ |> by k |> window time 50ms slide 20ms |> aggregate { k, n: count(), v: sum(v), o: first(v) }
stream pairs = left_ |> join right_ by k within 3ms { k: left_.k, a: i32(left_.v), b: right_.v }
stream ranks = pairs |> by a |> scan { k, a, b, n: count() }
stream both = left_ |> filter v > 10.0 |> union right_
stream last5 = both |> window count 5 slide 3 |> aggregate { n: sum(k), e: ewma(v, 0.5) }
stream meets = sums |> map { t: i64(v), k: n, v } |> union second
stream second = right_ |> by k |> window session gap 9ms |> aggregate { k: sum(k) } |> map { t: 1, k, v: 0.5 }
"""
SINKS = "".join(f'sink out_{name} = {name} to csv("{name}.csv")\n'
                for name in ("sums", "ranks", "last5", "meets", "tardy"))
GENERATED = """record R { t: timestamp<us>, k: u32, name: symbol, v: f64, ok: bool }
source in: R = generate(count: 3000, rate: 100k/s, keys: 40, zipf: 1.2, disorder: 300us, seed: 11, v: 1.0..9.0)
  event time t slack 150us late to tardy
stream s = in |> by k |> window time 1ms slide 300us
  |> aggregate { k, n: count(), low: min(v), o: first(v), c: last(name) }
sink out = s to csv("out.csv")
sink late_ = tardy to csv("late.csv")
"""


def test_more_tuples_than_a_round_and_a_buffer_hold(tmp_path: Path) -> None:
    """As delivered: rounds of many events, sources that are read in blocks."""
    rng = random.Random(3)
    files = {name: table("t,k,v", (f"{t * 2 - rng.randrange(40)},{rng.randrange(30)},{rng.randrange(200) / 8}"
                                   for t in range(count))) for name, count in (("left.csv", 3000), ("right.csv", 1300))}
    check_inputs(build(f"app long\n{LONG}{SINKS}", tmp_path, 0), files)


EACH_TUPLE = ("count 1", "count 2 slide 1", "count 7 slide 1 partial", "count 100 slide 1", "count 300 slide 1",
              "count 300 every tuple", "count 5000 slide 1")
SOME_LAYOUTS = LAYOUTS[:3]
AFTERWARDS = ("", " |> filter n > 0 and low < 0.5", " |> window count 3 |> aggregate { n: sum(n), high: max(high) }")


def by_the_block(stages: str, fields: str) -> str:
    """A program whose tuples come by the block in one thread: one source, one thing to do."""
    return f'app blocks\nrecord R {{ {fields} }}\nsource in: R = csv("in.csv")\n' \
           f'sink out = in {stages} to csv("out.csv")\n'


@pytest.mark.parametrize(("window", "after"), tuple(zip(EACH_TUPLE, itertools.cycle(AFTERWARDS), strict=False)))
def test_a_window_at_every_tuple_of_a_whole_stream(window: str, after: str, tmp_path: Path) -> None:
    """As many results go on together."""
    values = "n: count(), high: max(v), low: min(v), o: first(v), t: sum(v), q: i64(max(v)) / count()"
    rng = random.Random(5)
    given = [rng.choice(("nan", "inf", "0.25", str(rng.randrange(-99, 99) / 4))) for _ in range(2000)]
    text = by_the_block(f"|> window {window} |> aggregate {{ {values} }}{after}", "v: f64")
    check_inputs(build(text, tmp_path, 0), {"in.csv": table("v", given)}, layouts=SOME_LAYOUTS)


KEYS = ("a", "b", "name", "word", "a, b", "name, word")


@pytest.mark.parametrize(("keys", "window"), tuple(itertools.product(KEYS, ("count 4 slide 2", "count 5 slide 2"))))
def test_count_windows_of_many_keys_by_the_block(keys: str, window: str, tmp_path: Path) -> None:
    """Tuples are looked up ahead: keys of every kind, few and many, known and new within one block."""
    values = "n: count(), mean: avg(v), s: stddev(v), p: stddev_pop(v), o: first(v), low: min(v)"
    rng = random.Random(8)
    lines = []
    for number in range(3000):
        key = rng.randrange(8) if rng.random() < 0.5 else rng.randrange(number + 1)
        value = rng.choice(("nan", "inf", "-inf")) if rng.random() < 0.02 else str(rng.randrange(-99, 99) / 4)
        lines.append(f"{key * 4294967296 - number % 2},{key % 100},s{key},{key % 9999},{value}")
    text = by_the_block(f"|> by {keys} |> window {window} |> aggregate {{ {keys}, {values} }}",
                        "a: i64, b: i8, name: symbol, word: text<4>, v: f64")
    check_inputs(build(text, tmp_path, 0), {"in.csv": table("a,b,name,word,v", lines)}, layouts=SOME_LAYOUTS)


HASH_FACTOR = 0xd6e8feb86659fd93  # of dfrt_hash_u64


def hashed_to(place: int) -> int:
    """The i64 with this hash: each step of dfrt_hash_u64 goes back."""
    for _ in range(2):
        place = (place ^ place >> 32) * pow(HASH_FACTOR, -1, 1 << 64) % (1 << 64)
    place ^= place >> 32
    return place - (place >> 63 << 64)


@pytest.mark.parametrize(("window", "values"), [
    ("count 2", "s: sum(v), low: min(v), high: max(v), d: stddev(v)"), ("count 2 slide 1", "m: median(v)")])
def test_count_windows_of_more_keys_than_the_second_cache_holds(window: str, values: str, tmp_path: Path) -> None:
    """18,000 groups take more than DFRT_FEW_BYTES, so that they are fetched earlier from somewhere on. Three keys at a
    time have the same lower half of their hashes, which is all that the index knows."""
    rng = random.Random(21)
    keys = [hashed_to(rng.getrandbits(32) << 32 | low) for low in rng.sample(range(1 << 32), 6000) for _ in range(3)]
    order = [*keys, *keys, *rng.sample(keys, 2000)]
    rng.shuffle(order)
    lines = [f"{key},{number % 1000}" for number, key in enumerate(order)]
    text = by_the_block(f"|> by a |> window {window} |> aggregate {{ a, {values} }}", "a: i64, v: f64")
    check_inputs(build(text, tmp_path, 0), {"in.csv": table("a,v", lines)}, layouts=SOME_LAYOUTS)


@pytest.mark.parametrize("rounds", [7, 0])
def test_generated_input(rounds: int, tmp_path: Path) -> None:
    check_inputs(build(f"app generated\n{GENERATED}", tmp_path, rounds), {})
