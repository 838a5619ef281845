"""A second oracle, which nobody here wrote: what SQL can say, DuckDB computes too.

`arrived` are the rows with their number of arrival `rn`; `live` leaves out the late ones. Each program has holes
for sizes, which are drawn anew in every run; a failure prints DFC_TEST_SEED, which replays it.
"""

from __future__ import annotations

import random
from pathlib import Path

import duckdb
import pytest

from tests.differential.native import Different, Program, build, run
from tests.differential.trying import SEED
from tests.rows import difference, read_table

LAYOUTS = (("--workers", "1"), ("--workers", "3"))
SOURCE = """record Row { ts: timestamp<ms>, k: i32, name: symbol, v: f64, n: i64, words: text<40> }
source in: Row = csv("in.csv") event time ts slack @slackms
"""
LIVE = """create view live as select * exclude (w) from (
  select *, max(ts) over (order by rn rows between unbounded preceding and 1 preceding) - @slack as w from arrived)
where w is null or ts >= w"""

AGGREGATES = """rows: count(), total: sum(v), whole: sum(n), mean: avg(v), low: min(v), high: max(n),
  opening: first(v), closing: last(n), middle: median(v), q: quantile(v, 0.3), s: stddev(v),
  p: stddev_pop(v), e: ewma(v, 0.25)"""
SQL_AGGREGATES = """count(*), sum(v), sum(n)::bigint, avg(v), min(v), max(n),
  first(v order by ts, rn), last(n order by ts, rn),
  quantile_cont(v, 0.5), quantile_cont(v, 0.3), stddev_samp(v), stddev_pop(v),
  list_reduce(list(v order by ts, rn), lambda e, x: 0.25 * x + 0.75 * e)"""
# Window w is [w * slide, w * slide + size): the rows with all windows that they are in.
SLIDING = """(select *, w * @slide as starts, w * @slide + @size as ends from live,
  unnest(generate_series(floor((ts - @size) / @slide)::bigint + 1, floor(ts / @slide)::bigint)) as windows(w))"""
COUNTED = "(select *, row_number() over (partition by k order by rn) - 1 as i from live)"
SESSIONS = """(select *, sum(begins) over (partition by k order by ts, rn) as session from (
  select *, case when ts - lag(ts) over (partition by k order by ts, rn) < @gap then 0 else 1 end as begins
  from live))"""
# A window of a key ends where the value is too far from the first one; `last` is the one that is still open.
DELTAS = """(with recursive numbered as (select *, row_number() over (partition by k order by rn) as i from live),
  opened as (select k, i, v as first, 0 as w from numbered where i = 1 union all
    select n.k, n.i, case when abs(n.v - o.first) > @gap then n.v else o.first end,
           o.w + (abs(n.v - o.first) > @gap)::integer
    from opened o join numbered n on n.k = o.k and n.i = o.i + 1)
  select n.*, w, max(w) over (partition by k) as last from numbered n join opened using (k, i))"""

PROGRAMS = {
    "filter and map": (
        """stream s = in |> filter v > 0.0 and name != "b"
             |> map { ts, k, twice: v * 2.0 + n, third: n / 3, rest: n % 3,
             kind: if k > 2 then name else "few", next: ts + 5, even: n % 2 == 0 }""",
        """select ts, k, v * 2 + n, n // 3, n % 3, case when k > 2 then name else 'few' end, ts + 5, n % 2 = 0
           from live where v > 0 and name <> 'b'"""),
    "tumbling": (
        f"""stream s = in |> by k |> window time @sizems
             |> aggregate {{ k, from: window_start, {AGGREGATES} }}""",
        f"select k, floor(ts / @size)::bigint * @size, {SQL_AGGREGATES} from live group by 1, 2"),
    "tumbling over everything": (
        f"stream s = in |> window time @sizems |> aggregate {{ to: window_end, {AGGREGATES} }}",
        f"select (floor(ts / @size)::bigint + 1) * @size, {SQL_AGGREGATES} from live group by 1"),
    "sliding": (
        f"""stream s = in |> by name, k |> window time @sizems slide @slidems
             |> aggregate {{ name, k, a: window_start, b: window_end, {AGGREGATES} }}""",
        f"select name, k, starts, ends, {SQL_AGGREGATES} from {SLIDING} group by all"),
    "sliding, combined from panes": (
        """stream s = in |> by k |> window time @sizems slide @slidems
             |> aggregate { k, a: window_start, rows: count(), total: sum(v), low: min(v), high: max(n),
                            o: first(v), c: last(n), s: stddev(v) }""",
        f"""select k, starts, count(*), sum(v), min(v), max(n),
              first(v order by ts, rn), last(n order by ts, rn), stddev_samp(v)
            from {SLIDING} group by k, starts"""),
    "sessions": (
        f"""stream s = in |> by k |> window session gap @gapms
             |> aggregate {{ k, a: window_start, b: window_end, {AGGREGATES} }}""",
        f"select k, min(ts), max(ts) + @gap, {SQL_AGGREGATES} from {SESSIONS} group by k, session"),
    "counts": (
        f"stream s = in |> by k |> window count @size slide @slide |> aggregate {{ k, {AGGREGATES} }}",
        f"""select k, {SQL_AGGREGATES} from {COUNTED}, unnest(generate_series(0, i // @slide)) as windows(w)
            where i between w * @slide and w * @slide + @size - 1 group by k, w having count(*) = @size"""),
    "partial counts": (
        f"stream s = in |> by k |> window count @size slide @slide partial |> aggregate {{ k, {AGGREGATES} }}",
        f"""select k, {SQL_AGGREGATES} from {COUNTED},
              (select k as g, unnest(generate_series(@slide, count(*), @slide)) as e from live group by k)
            where k = g and i < e and i >= e - @size group by k, e"""),
    "scan": (
        """stream s = in |> by k
             |> scan { ts, k, rows: count(), total: sum(v), mean: avg(v), low: min(n), high: max(v),
                       d: stddev_pop(v) }""",
        """select ts, k, count(*) over g, sum(v) over g, avg(v) over g, min(n) over g, max(v) over g,
             stddev_pop(v) over g
           from live window g as (partition by k order by rn)"""),
    "join": (
        """stream left_ = in |> filter n % 2 == 0
           stream right_ = in |> filter n % 3 == 0
           stream s = left_ |> join right_ by k, name within @gapms {
             a: left_.ts, b: right_.ts, k: left_.k, d: left_.v - right_.v }""",
        """select a.ts, b.ts, a.k, a.v - b.v from live a join live b
             on a.k = b.k and a.name = b.name and abs(a.ts - b.ts) <= @gap
           where a.n % 2 = 0 and b.n % 3 = 0"""),
    "union and split": (
        """split in into high when v > 2.0, low when v < -2.0, middle otherwise
           stream s = low |> union high |> map { ts, v, k }""",
        "select ts, v, k from live where v > 2 or v < -2"),
    "every outlet of a split": (
        """split in into high when v > 2.0, odd when n % 2 != 0, rest otherwise
           stream a = high |> map { ts, v, k, way: 1 }
           stream b = odd |> map { ts, v, k, way: 2 }
           stream s = rest |> map { ts, v, k, way: 3 } |> union a, b""",
        "select ts, v, k, case when v > 2 then 1 when n % 2 <> 0 then 2 else 3 end from live"),
    "elements of arrays": (
        """stream s = in |> map { ts, all: [v, v * 2.0, 1.5], table: [[n, 1], [k, n + 1]], at: n % 4 }
             |> map { ts, fixed: all[1], some: all[at], cell: table[1][0] + table[0][at] }""",
        """select ts, v * 2, case when n % 4 between 0 and 2 then [v, v * 2, 1.5][n % 4 + 1] else 0.0 end,
             k + case when n % 4 between 0 and 1 then [n, 1][n % 4 + 1] else 0 end from live"""),
    "words": (
        'use std.text\nrecord Word { word: symbol }\nstream s = in |> flatmap split(words, " ") -> Word',
        "select unnest(string_split(words, ' ')) from live"),
    "windows of windows": (
        """stream peaks = in |> by k |> window time @sizems |> aggregate { k, peak: max(v), n: sum(n) }
           stream s = peaks |> by k |> window time @size * 3ms
             |> aggregate { k, from: window_start, rows: count(), m: avg(peak), t: sum(n) }""",
        """select k, floor(ends / (@size * 3))::bigint * @size * 3, count(*), avg(peak), sum(n)::bigint from (
             select k, floor(ts / @size)::bigint * @size + @size - 1 as ends, max(v) as peak, sum(n) as n
             from live group by 1, 2)
           group by 1, 2"""),
    "every tuple, counted": (
        """stream s = in |> by k |> window count @size every tuple
             |> aggregate { k, rows: count(), total: sum(v), low: min(n), mean: avg(v) }""",
        """select k, count(*) over g, sum(v) over g, min(n) over g, avg(v) over g from live
           window g as (partition by k order by rn rows between @size - 1 preceding and current row)"""),
    "every tuple, by time": (
        f"stream s = in |> by k |> window time @sizems every tuple |> aggregate {{ k, {AGGREGATES} }}",
        f"""select k, {SQL_AGGREGATES} from (
              select a.rn as came, b.* from live a join live b
                on a.k = b.k and b.rn <= a.rn and b.ts > a.ts - @size and b.ts <= a.ts)
            group by k, came"""),
    "delta": (
        f"stream s = in |> by k |> window delta @gap.0 of v |> aggregate {{ k, {AGGREGATES} }}",
        f"select k, {SQL_AGGREGATES} from {DELTAS} where w < last group by k, w"),
    "state of one's own": (
        """stream s = in |> by k
             |> update { total: f64 = 0.0, low: i64 = 3, seen: i64 = 0 }
                with { total: total + v, low: least(low, n), seen: seen + 1 }
                emit { ts, k, mean: total / seen, low }""",
        """select ts, k, sum(v) over g / count(*) over g, least(3, min(n) over g) from live
           window g as (partition by k order by rn)"""),
    "aggregates of one's own": (
        """aggregate weighted(x: f64, w: i64) -> f64 associative commutative {
             state { total: f64, w: i64 }
             lift { total: x * w, w: w }
             combine { total: left.total + right.total, w: left.w + right.w }
             lower if w == 0 then 0.0 else total / w
           }
           stream s = in |> by k |> window time @sizems slide @slidems
             |> aggregate { k, a: window_start, w: weighted(v, n) }""",
        f"""select k, starts, case when sum(n) = 0 then 0 else sum(v * n) / sum(n) end
            from {SLIDING} group by k, starts"""),
    "statistics": (
        """use std.stats
           stream s = in |> by k |> window time @sizems slide @slidems
             |> aggregate { k, a: window_start, c: covariance(v, f64(n)), r: correlation(v, f64(n)),
                            m: slope(v, f64(n)), b: intercept(v, f64(n)), g: geometric_mean(6.0 + v) }""",
        f"""select k, starts, covar_samp(v, n), corr(v, n), regr_slope(n, v), regr_intercept(n, v), geomean(6 + v)
            from {SLIDING} group by k, starts"""),
    "calendar": (
        """use std.time
           stream s = in |> map { t: ts + n * 98765432101, k }
             |> map { a: year(t), b: month(t), c: day(t), d: hour(t), e: minute(t), f: second(t), g: weekday(t),
                      h: day_of_year(t) }""",
        """select year(t), month(t), day(t), hour(t), minute(t), second(t), isodow(t), dayofyear(t)
           from (select epoch_ms(ts + n * 98765432101) as t from live)"""),
    "broadcast": (
        """stream slow = in |> filter n > 6
           stream fast = in |> filter n <= 6
           stream s = fast |> broadcast slow { ts: fast.ts, k: fast.k, p: fast.v * slow.v, name: slow.name }""",
        """select f.ts, f.k, f.v * l.v, l.name from (select * from live where n <= 6) f
             asof join (select * from live where n > 6) l on f.rn > l.rn"""),
    "late ones": ("stream s = tardy |> map { ts, k, v }", "select ts, k, v from arrived anti join live using (rn)"),
}


def numbers(rng: random.Random) -> dict[str, int]:
    return {"size": rng.choice((1, 4, 10, 25)), "slide": rng.choice((3, 4, 7, 30)), "gap": rng.choice((1, 5, 12)),
            "slack": rng.choice((0, 5, 60))}


def filled(text: str, holes: dict[str, int]) -> str:
    for name, value in holes.items():
        text = text.replace(f"@{name} * 3ms", f"{value * 3}ms").replace(f"@{name}", str(value))
    return text


def arrivals(rng: random.Random) -> list[tuple]:
    """In order, or disordered by up to 60 ms; few keys, equal times, times before zero."""
    disorder, step, keys = rng.choice((0, 6, 60)), rng.choice((1, 3, 12)), rng.choice((1, 3, 8))
    now, rows = rng.choice((-100, 0, 5000)), []
    for rn in range(rng.choice((0, 1, 40, 150))):
        now += rng.randint(0, step)
        words = " ".join(rng.choice(("a", "b", "cc", "")) for _ in range(rng.randint(1, 4)))
        rows.append((rn, now - rng.randint(0, disorder), rng.randrange(keys), rng.choice("abc"),
                     rng.randint(-40, 40) / 8, rng.randint(-9, 9), words))
    return rows


def answer_of_sql(query: str, rows: list[tuple], holes: dict[str, int]) -> list[tuple[str, ...]]:
    with duckdb.connect(config={"threads": 1}) as database:
        database.execute("create table arrived"
                         " (rn bigint, ts bigint, k integer, name text, v double, n bigint, words text)")
        if rows:
            database.executemany("insert into arrived values (?, ?, ?, ?, ?, ?, ?)", rows)
        database.execute(filled(LIVE, holes))
        return [tuple(map(shown, row)) for row in database.execute(filled(query, holes)).fetchall()]


def shown(value: object) -> str:
    return "nan" if value is None else str(value).lower() if isinstance(value, bool) else str(value)


def check(program: Program, query: str, rows: list[tuple], holes: dict[str, int]) -> None:
    folder = program.path.parent
    lines = ["ts,k,name,v,n,words", *(",".join(map(str, row[1:])) for row in rows)]
    (folder / "in.csv").write_text("".join(f"{line}\n" for line in lines))
    expected = answer_of_sql(query, rows, holes)
    for layout in LAYOUTS:
        run(program, list(layout))
        wrong = difference(expected, read_table(folder / "out.csv")[1])
        if wrong:
            raise Different(f"DFC_TEST_SEED={SEED} {' '.join(layout)} {holes}: {wrong}")


@pytest.mark.parametrize("name", PROGRAMS)
def test_agrees_with_duckdb(name: str, tmp_path: Path) -> None:
    text, query = PROGRAMS[name]
    rng = random.Random(f"{SEED} {name}")
    for number in range(2):
        holes = numbers(rng)
        late = "  late to tardy\n" if name == "late ones" else ""
        folder = tmp_path / str(number)
        folder.mkdir()
        program = build(filled(f'app sql\n{SOURCE}{late}{text}\nsink out = s to csv("out.csv")\n', holes), folder, 7)
        for _ in range(3):
            check(program, query, arrivals(rng), holes)
