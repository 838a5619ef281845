"""Alternates in C that take columns: the native program and the interpreter call them with the same arrays."""

from __future__ import annotations

import random
import subprocess
from pathlib import Path

import pytest
from dfc.compiler import build, interpret, pipeline
from dfc.compiler.user_library import user_code

from tests.rows import file_difference

PROGRAM = """\
app every_column

record Reading {
  ts: timestamp<ms>, key: symbol, name: text<7>, a: i8, count: u16, end: f32, y: f64, default: bool,
  pause: duration<ms>, three: f64[3], words: text<3>[2], unused: i64,
}
record look_few_columns { x: f64 }
record Seen {
  key: symbol, name: text<7>, first: text<7>, a: i64, counts: i64, ends: f64, y: f64, trues: i64, pauses: i64,
  threes: f64, word: text<3>, colour: symbol, start: i64, finish: i64, n: i64, at: i64,
}
record Mixed { n: i64, x: f64, y: f64 }

source readings: Reading = csv("readings.csv") EVENT

operator look on readings by key, name WINDOW -> Seen {
  alternate all columns words, y, key, name, a, count, end, default, pause, three = c("look.c", "look")
  alternate few value 0.5 columns y, a = c("look.c", "look_little")
}
operator mixed on readings by default WINDOW -> Mixed {
  alternate columns value 0.9 columns y = c("look.c", "mix_columns")
  alternate tuples value 0.8 = c("look.c", "mix_tuples")
  alternate language = { n: count(), x: median(a), y: sum(y) + last(end) + max(count * 2) }
}
stream clashing = readings |> map { x: y } -> look_few_columns
sink out = look to csv("out.csv")
sink more = mixed to csv("more.csv")
sink others = clashing to csv("others.csv")
control off
"""
CODE = """\
#include "every_column.h"

bool look(const every_column_look_all_columns *window, every_column_Seen *result)
{
    size_t last = window->count - 1;
    result->key = window->key.key;
    (void)dfrt_text_assign(&result->name, 7, dfrt_text_of(&window->key.name));
    (void)dfrt_text_assign(&result->first, 7, dfrt_text_of(&window->name[0]));
    (void)dfrt_text_assign(&result->word, 3, dfrt_text_of(&window->words[last][1]));
    result->colour = window->key_[last];
    for (size_t i = 0; i < window->count; i++) {
        result->a = 3 * result->a + window->a[i];
        result->counts += window->count_[i];
        result->ends += window->end_[i];
        result->y = 0.5 * result->y + window->y[i];
        result->trues += window->default_[i];
        result->pauses += window->pause[i];
        result->threes += window->three[i][2] - window->three[i][0];
        TIMES
    }
    result->start = window->start;
    result->finish = window->end;
    result->n = (int64_t)window->count;
    return result->counts % 7 != 0;
}

bool look_little(const every_column_look_few_columns_ *window, every_column_Seen *result)
{
    result->key = window->key.key;
    result->y = window->y[window->count - 1];
    result->a = window->a[0];
    return true;
}

bool mix_columns(const every_column_mixed_columns_columns *window, every_column_Mixed *result)
{
    result->x = window->key.default_ ? 1.0 : -1.0;
    for (size_t i = 0; i < window->count; i++) result->y = 0.25 * result->y + window->y[i];
    return true;
}

bool mix_tuples(const every_column_mixed_window *window, every_column_Mixed *result)
{
    result->n = window->times[window->count - 1];
    for (size_t i = 0; i < window->count; i++) result->y = 0.25 * result->y + window->tuples[i].y;
    return true;
}
"""
ROWS = 400
TIMED = ["window count 7", "window count 5 slide 2", "window count 6 slide 3 partial", "window count 3 slide 5",
         "window count 3 slide 8 partial", "window time 50ms", "window time 100ms slide 30ms",
         "window session gap 25ms", "window time 40ms every tuple", "window count 4 every tuple", "window delta 9 of a"]
UNTIMED = [window for window in TIMED if " time" not in window and "session" not in window]


def rows() -> str:
    rng = random.Random(3)
    lines = ["ts,key,name,a,count,end,y,default,pause,three[0],three[1],three[2],words[0],words[1],unused"]
    for number in range(ROWS):
        three = [rng.randrange(100) for _ in range(3)]
        cells = [number * 5 - rng.randrange(30), rng.choice("rgb"), rng.choice(["", "über", "b,c"]),
                 rng.randrange(-128, 128), rng.randrange(1 << 16), rng.choice([0.5, -2.25]), rng.randrange(1000),
                 rng.choice(["true", "false"]), rng.randrange(-9, 9), *three, rng.choice(["", "xyz"]), number % 100, 1]
        lines.append(",".join(f'"{cell}"' for cell in cells))
    return "\n".join(lines) + "\n"


def write(folder: Path, window: str, timed: bool) -> Path:
    text = PROGRAM.replace("WINDOW", window).replace(" EVENT", " event time ts slack 20ms" if timed else "")
    (folder / "every_column.dfl").write_text(text)
    (folder / "readings.csv").write_text(rows())
    times = "result->at += window->times[i] * (int64_t)i;" if timed else ""
    (folder / "look.c").write_text(CODE.replace("TIMES", times))
    return folder / "every_column.dfl"


def same(program: Path, chosen: dict[str, str]) -> None:
    """Native with one and with three workers gives what the interpreter gives."""
    folder, graph = program.parent, pipeline.flow(pipeline.check(program.read_text(), str(program), {}))
    results = interpret.run(graph, folder=folder, user_c=user_code(graph), active=chosen)
    native = build.compile_program(pipeline.generate(program.read_text(), str(program), {}), "portable")
    words = [word for name, choice in chosen.items() for word in ("--alternate", f"{name}={choice}")]
    for workers in ("1", "3"):
        subprocess.run([native, "--workers", workers, *words], cwd=folder, check=True)
        for sink in ("out", "more", "others"):
            assert len(results.rows[sink]) > 5
            (folder / "expected.csv").write_text("".join(f"{line}\n" for line in results.csv_lines(sink)))
            assert not file_difference(folder / "expected.csv", folder / f"{sink}.csv")


CASES = [(window, True) for window in TIMED] + [(window, False) for window in UNTIMED]


@pytest.mark.parametrize(("window", "timed"), CASES, ids=[f"{w[7:]} {'timed' if t else 'untimed'}" for w, t in CASES])
def test_columns(tmp_path, window, timed):
    program = write(tmp_path, window, timed)
    same(program, {})
    same(program, {"look": "few", "mixed": "columns"})
    same(program, {"mixed": "tuples"})


def test_the_header_has_columns_only(tmp_path):
    """Without event time there are no times; a store keeps what is named, and nothing else."""
    program = write(tmp_path, "window count 7", False)
    files = dict(pipeline.generate(program.read_text(), str(program), {}).files)
    view = files["every_column.h"].partition("typedef struct every_column_look_few_columns_ {")[2].partition("}")[0]
    assert view.split() == "const double *y; const int8_t *a; size_t count; /* at least 1 */ int64_t start, end; " \
        "/* bounds of a time window or session, else 0 */ struct { dfrt_symbol key; " \
        "struct { uint32_t size; char data[7];".split()
    store = files["every_column.c"].partition("struct look_columns {")[2].partition("};")[0]
    assert "*y;" in store and "times" not in store and "unused" not in store and "tuples" not in store
