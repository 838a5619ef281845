"""std.time beside the system's calendar, std.text beside Python's strings, in the generated program."""

import csv
import random
import time
from pathlib import Path


def run(dfc, folder: Path, program: str, header: str, rows: list[str]) -> list[dict[str, str]]:
    (folder / "app.dfl").write_text(program)
    (folder / "in.csv").write_text("\n".join((header, *rows)) + "\n", encoding="utf-8")
    answer = dfc("run", "app.dfl")
    assert answer.returncode == 0, answer.stderr
    with open(folder / "out.csv", newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def test_calendar(dfc, tmp_path: Path):
    program = """
app calendar
use std.time
record Moment { at: timestamp<ms> }
source moments: Moment = csv("in.csv")
sink out = moments |> map { year: year(at), month: month(at), day: day(at), hour: hour(at), minute: minute(at),
  second: second(at), weekday: weekday(at), day_of_year: day_of_year(at) } to csv("out.csv")
"""
    chance = random.Random(3)
    edges = [0, -1, 951782400000, 951868799999, 4107542399999, -11644473600000, 1709164800000]
    moments = edges + [chance.randrange(-60_000_000_000_000, 200_000_000_000_000) for _ in range(300)]
    found = run(dfc, tmp_path, program, "at", list(map(str, moments)))
    for moment, row in zip(moments, found, strict=True):
        utc = time.gmtime(moment // 1000)
        wanted = (utc.tm_year, utc.tm_mon, utc.tm_mday, utc.tm_hour, utc.tm_min, utc.tm_sec,
                  utc.tm_wday + 1, utc.tm_yday)
        assert tuple(map(int, row.values())) == wanted, moment


def test_text(dfc, tmp_path: Path):
    program = """
app words
use std.text
record Word { word: symbol, part: text<8> }
source words: Word = csv("in.csv")
sink out = words |> map { low: lower(word), up: upper(word), bare: trim(word), has: contains(word, part),
  begins: starts_with(word, part), ends: ends_with(word, part), long: length(word), mark: hash(word) } to csv("out.csv")
"""
    words = [("Hello", "ell"), ("  ÄöÜ x ", "x "), ("", ""), ("abcabc", "abc"), ("é", "é"), ("tabx", "")]
    found = run(dfc, tmp_path, program, "word,part", [f'"{word}","{part}"' for word, part in words])
    for (word, part), row in zip(words, found, strict=True):
        lower = "".join(c.lower() if c.isascii() else c for c in word)
        upper = "".join(c.upper() if c.isascii() else c for c in word)
        assert (row["low"], row["up"], row["bare"]) == (lower, upper, word.strip())
        facts = (part in word, word.startswith(part), word.endswith(part))
        assert tuple(row[name] == "true" for name in ("has", "begins", "ends")) == facts
        assert int(row["long"]) == len(word)
    assert len({row["mark"] for row in found}) == len(words)
