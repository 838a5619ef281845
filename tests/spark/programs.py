"""A program with traces, and the command as a user calls it."""

from __future__ import annotations

from pathlib import Path

from dfc.compiler.cli import main

PROGRAM = """app trades

record Trade { ts: timestamp<ms>, symbol: symbol, price: f64, size: i32, note: text<8> }
record Sum { symbol: symbol, n: i64 }

source trades: Trade = csv("trades.csv") event time ts slack 50ms

stream big = trades |> filter size >= 10

operator sums on big by symbol window count 100 slide 25 partial -> Sum {
  alternate exact value 1.0 = { symbol, n: count() }
  alternate cheap value 0.6 = { symbol, n: 0 }
}

sink out = sums to csv("out.csv")
goal latency p99 <= 20ms
control mpc { step: 1s }
"""
HEADER = "ts,symbol,price,size,note\n"
HOUR = 3_600_000
START = 1_700_000_000_000


def program_in(folder: Path) -> Path:
    path = folder / "app.dfl"
    path.write_text(PROGRAM)
    return path


def row(number: int, time: int | None = None) -> str:
    return f"{START + number if time is None else time},k{number % 3},{number / 4},{number % 50},n{number % 7}\n"


def dfc(capsys, *words: object) -> tuple[int, str, str]:
    code = main([str(word) for word in words])
    said = capsys.readouterr()
    return code, said.out, said.err
