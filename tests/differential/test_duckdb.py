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
