"""Alternates in C: the native program and the interpreter call the same functions and give the same rows.

The programs use every type that a record can hold and every kind of window; the mistakes are those that people
make between a .dfl file and a .c file.
"""

from __future__ import annotations

import random
import subprocess
from pathlib import Path

import pytest
from dfc.compiler import build, interpret, pipeline
from dfc.compiler.artifacts.graph import Graph
from dfc.compiler.user_library import user_code
from dfc.dsl.diagnostics import Diagnostic, Diagnostics, ProgramError

from tests.rows import file_difference

PROGRAM = """\
app every_type

record Reading {
  ts: timestamp<ms>, key: symbol, a: i8, b: i16, c: i32, d: i64, e: u8, f: u16, g: u32, h: u64,
  x: f32, y: f64, default: bool, pause: duration<ms>, note: text<7>,
}
record Summary {
  ts: timestamp<ms>, key: symbol, a: i8, b: i16, c: i32, d: i64, e: u8, f: u16, g: u32, h: u64,
  x: f32, y: f64, default: bool, pause: duration<ms>, note: text<7>, kind: symbol, start: i64, end: i64, n: i64,
}

source readings: Reading = csv("readings.csv") event time ts slack 40ms

operator summarise on readings CLAUSES -> Summary {
  alternate in_c value 1.0 = c("summarise.c", "summarise")
}

sink out = summarise to csv("out.csv")
control off
"""

# Order matters in all of it: the fields come from the first, last or middle tuple as the function sees them.
FIELDS = """\
    result->ts = last->ts + 1;
    result->key = first->key;
    result->a = (int8_t)-first->a;
    result->b = first->b;
    result->c = last->c;
    result->d = first->d;
    result->e = last->e;
    result->f = first->f;
    result->g = last->g;
    result->h = first->h;
    result->x = first->x * 0.5f;
    result->default_ = !last->default_;
    result->pause = first->pause;
    (void)dfrt_text_assign(&result->note, 7, dfrt_text_of(&last->note));
    if (dfrt_symbol_intern(first->a < 0 ? "below" : "\\303\\274ber", 5, &result->kind) != DFRT_OK) return false;
"""
WINDOWED = f"""\
#include "every_type.h"

bool summarise(const every_type_summarise_window *window, every_type_Summary *result)
{{
    const every_type_Reading *first = &window->tuples[0], *last = &window->tuples[window->count - 1];
{FIELDS}
    for (size_t i = 0; i < window->count; i++) {{
        result->y += window->tuples[i].y * (double)(i + 1) + (double)window->times[i];
    }}
    result->start = window->start;
    result->end = window->end;
    result->n = (int64_t)window->count;
    return last->c % 5 != 0;
}}
"""
SINGLE = f"""\
#include "every_type.h"

bool summarise(const every_type_Reading *tuple, every_type_Summary *result)
{{
    const every_type_Reading *first = tuple, *last = tuple;
{FIELDS}
    result->y = tuple->y;
    return last->c % 5 != 0;
}}
"""
WINDOWS = ["window count 7", "by key window count 5 slide 2", "by key, default window count 6 slide 3 partial",
           "window time 50ms", "by key window time 100ms slide 30ms", "by key window session gap 25ms"]
NOTES = ("", "plain", "a,b", 'say "x"', "zwölf", "∀x∈", "  ")


def rows(count: int = 300, seed: int = 5) -> str:
    """Readings out of order within the slack, a few beyond it; every number anywhere in its range."""
    rng = random.Random(seed)
    lines = ["ts,key,a,b,c,d,e,f,g,h,x,y,default,pause,note"]
    for number in range(count):
        signed = [rng.randrange(-(1 << bits - 1), 1 << bits - 1) for bits in (8, 16, 32, 64)]
        unsigned = [rng.randrange(1 << bits) for bits in (8, 16, 32, 64)]
        floats = [rng.choice([0.1, -0.0, 1e-3, 12345.678]), rng.choice(["nan", "inf", "-0.0", 2.5, rng.gauss(0, 1e6)])]
        note = rng.choice(NOTES).replace('"', '""')
        cells = [number * 5 - rng.randrange(50), rng.choice(["red", "green", "blue", ""]), *signed, *unsigned, *floats,
                 rng.choice(["true", "false"]), rng.randrange(-500, 500), f'"{note}"']
        lines.append(",".join(map(str, cells)))
    return "\n".join(lines) + "\n"


def write(folder: Path, clauses: str, code: str | None) -> Path:
    text = PROGRAM.replace("CLAUSES ", f"{clauses} " if clauses else "")
    (folder / "every_type.dfl").write_text(text)
    (folder / "readings.csv").write_text(rows())
    if code is not None:
        (folder / "summarise.c").write_text(code)
    return folder / "every_type.dfl"


def graph_of(program: Path) -> Graph:
    return pipeline.flow(pipeline.check(program.read_text(), str(program), {}))


def same(program: Path) -> None:
    """Native with one and with three workers gives what the interpreter gives."""
    folder, graph = program.parent, graph_of(program)
    results = interpret.run(graph, folder=folder, user_c=user_code(graph))
    assert len(results.rows["out"]) > 10 and not results.malformed["readings"]
    (folder / "expected.csv").write_text("".join(f"{line}\n" for line in results.csv_lines("out")))
    native = build.compile_program(pipeline.generate(program.read_text(), str(program), {}), "portable")
    for workers in ("1", "3"):
        subprocess.run([native, "--workers", workers], cwd=folder, check=True)
        assert not file_difference(folder / "expected.csv", folder / "out.csv")


@pytest.mark.parametrize("clauses", WINDOWS)
def test_windows(tmp_path, clauses):
    same(write(tmp_path, clauses, WINDOWED))


def test_single_tuples(tmp_path):
    same(write(tmp_path, "", SINGLE))


def test_the_command_interprets_c(dfc, tmp_path):
    write(tmp_path, "by key window count 5", WINDOWED)
    answer = dfc("run", "--interpret", "every_type.dfl")
    assert answer.returncode == 0, answer.stderr
    assert (tmp_path / "out.csv").read_text().startswith("ts,key,a,b,")


def test_the_interpreter_as_a_function(tmp_path):
    program = write(tmp_path, "by key window count 5", WINDOWED)
    graph = graph_of(program)
    results = interpret.run(graph, folder=tmp_path, user_c=user_code(graph))
    summary = dict(zip((field.name for field in results.records["out"].fields), results.rows["out"][0], strict=True))
    assert summary["n"] == 5 and summary["kind"] in ("below", "über") and isinstance(summary["default"], bool)


def test_a_program_without_c_has_no_library(tmp_path):
    text = 'app plain\nrecord R { x: f64 }\nsource s: R = csv("s.csv")\nsink out = s to csv("out.csv")\n'
    assert user_code(pipeline.flow(pipeline.check(text, "plain.dfl", {}))) is None


# --- mistakes ---------------------------------------------------------------------------------------


def refused(program: Path) -> Diagnostic:
    """The one mistake that is reported, the same for the program and for the interpreter's library."""
    with pytest.raises(ProgramError) as native:
        build.compile_program(pipeline.generate(program.read_text(), str(program), {}), "portable")
    with pytest.raises(ProgramError) as library:
        user_code(graph_of(program))
    (item,) = native.value.diagnostics.items
    assert library.value.diagnostics.items == [item]
    return item


def place(item: Diagnostic) -> str:
    return f"{Path(item.span.file).name}:{item.span.line}"


@pytest.mark.parametrize("words", [(), ("--interpret",)], ids=["native", "interpreter"])
def test_a_mistake_in_c_is_shown_at_its_line(dfc, tmp_path, words):
    write(tmp_path, "window count 7", WINDOWED.replace("result->start", "result->strat"))
    line = WINDOWED[:WINDOWED.index("result->start")].count("\n") + 1
    answer = dfc("run", *words, "every_type.dfl")
    assert answer.returncode == 1 and "E0901" in answer.stderr, answer.stderr
    assert f"summarise.c:{line}:" in answer.stderr and "strat" in answer.stderr
    assert not (tmp_path / "out.csv").exists()


def test_a_missing_file_is_shown_where_it_is_named(tmp_path):
    item = refused(write(tmp_path, "window count 7", None))
    assert (item.code, place(item)) == ("E0902", "every_type.dfl:15") and "summarise.c" in item.message


def test_a_misspelt_function_is_shown_where_it_is_named(tmp_path):
    item = refused(write(tmp_path, "window count 7", WINDOWED.replace("bool summarise(", "bool sumarise(")))
    assert (item.code, place(item)) == ("E0901", "every_type.dfl:15") and "`summarise`" in item.message


def test_a_static_function_is_refused(tmp_path):
    item = refused(write(tmp_path, "window count 7", WINDOWED.replace("bool summarise(", "static bool summarise(")))
    assert (item.code, place(item)) == ("E0901", "summarise.c:3")


@pytest.mark.parametrize(("old", "new"), [
    ("bool summarise(", "int summarise("),
    ("const every_type_summarise_window *window", "const every_type_Summary *window"),
    ("window, every_type_Summary *result)", "window)"),
], ids=["result", "window", "parameters"])
def test_a_wrong_signature_is_shown_in_the_c_file(tmp_path, old, new):
    code = '#include "every_type.h"\n\nbool summarise(const every_type_summarise_window *window, ' \
           "every_type_Summary *result)\n{\n    return true;\n}\n"
    item = refused(write(tmp_path, "window count 7", code.replace(old, new)))
    assert (item.code, place(item)) == ("E0901", "summarise.c:3") and "conflicting types" in item.message


SCALAR = """\
app scalar
record R { x: i64 }
fn helper(x: i64) -> i64 = c("own.c", "NAME")
source s: R = csv("s.csv")
sink out = s |> map { y: helper(x) } to csv("out.csv")
"""


def scalar(folder: Path, name: str, code: str) -> Path:
    (folder / "own.c").write_text(f'#include "scalar.h"\n{code}\n')
    (folder / "scalar.dfl").write_text(SCALAR.replace("NAME", name))
    return folder / "scalar.dfl"


@pytest.mark.parametrize(("code", "line"), [
    ("extern int64_t missing(int64_t);\n/* missing(1) */\nint64_t own(int64_t x) { return missing(x); }", 4),
    ("int64_t missing(\n    int64_t x);\nint64_t own(int64_t x)\n{\n    return x +\n    missing(3);\n}", 7),
    ("extern int64_t missing;\nint64_t own(int64_t x) { return x + missing; }", 2),
])
def test_what_user_c_calls_and_nobody_defines(tmp_path, code, line):
    item = refused(scalar(tmp_path, "own", code))
    assert (item.code, place(item)) == ("E0901", f"own.c:{line}") and "defines `missing`" in item.message


@pytest.mark.parametrize(("name", "code"), [
    ("main", "int64_t main(int64_t x) { return x; }"), ("abs", "int64_t abs(int64_t x) { return x; }"),
    ("free", "int64_t free(int64_t x) { return x; }"),
])
def test_a_name_that_is_taken(tmp_path, name, code):
    item = refused(scalar(tmp_path, name, code))
    assert (item.code, place(item)) == ("E0904", "scalar.dfl:3") and f"`{name}` is taken" in item.message


def test_a_main_of_the_users_own(tmp_path):
    program = scalar(tmp_path, "own", "int64_t own(int64_t x) { return x; }\nint main(void) { return (int)own(3); }")
    with pytest.raises(ProgramError) as native:
        build.compile_program(pipeline.generate(program.read_text(), str(program), {}), "portable")
    (item,) = native.value.diagnostics.items
    assert (item.code, place(item)) == ("E0904", "own.c:3")


def test_one_name_in_two_files(tmp_path):
    program = scalar(tmp_path, "own", "int64_t more(int64_t x) { return x; }\n"
                     "int64_t own(int64_t x) { return more(x); }")
    (tmp_path / "two.c").write_text("int more(int x) { return x; }\nlong two(long x) { return more((int)x); }\n")
    program.write_text(program.read_text().replace("helper(x)", "helper(twin(x))")
                       + 'fn twin(x: i64) -> i64 = c("two.c", "two")\n')
    item = refused(program)
    assert item.code == "E0904" and place(item) in ("own.c:2", "two.c:1")


def test_an_aggregate_without_one_of_its_functions(tmp_path):
    program = scalar(tmp_path, "own", "int64_t own(int64_t x) { return x; }\n"
                     "void agg_add(void *s, int64_t x) { *(int64_t *)s += x; }\n"
                     "void agg_combine(void *l, const void *r) { *(int64_t *)l += *(const int64_t *)r; }")
    program.write_text(program.read_text() + 'aggregate agg(x: i64) -> i64 associative = c("own.c", "agg") state 8\n'
                       'sink more = s |> window count 2 |> aggregate { z: agg(x) } to csv("more.csv")\n')
    item = refused(program)
    assert (item.code, place(item)) == ("E0901", "scalar.dfl:6") and "`agg_lower`" in item.message


def test_one_function_for_two_windows(tmp_path):
    program = write(tmp_path, "window count 7", WINDOWED)
    more = ('operator again on readings window time 1s -> Summary {\n'
            '  alternate in_c value 1.0 = c("summarise.c", "summarise")\n}\nsink two = again to csv("two.csv")\n')
    program.write_text(program.read_text() + more)
    item = refused(program)
    assert (item.code, place(item)) == ("E0903", "every_type.dfl:21")


@pytest.mark.parametrize("parameters", ["const double *a, const double (*b)[3]",
                                        "const double a[2], const double b[2][3]"])
def test_arrays_are_pointers_to_their_first_elements(tmp_path, parameters):
    """Both ways to write them compile without a warning."""
    (tmp_path / "own.c").write_text(f'#include "arrays.h"\ndouble add({parameters}) {{ return a[1] + b[1][2]; }}\n')
    program, found = tmp_path / "arrays.dfl", Diagnostics()
    program.write_text('app arrays\nrecord R { a: f64[2], b: f64[2][3] }\n'
                       'fn add(a: f64[2], b: f64[2][3]) -> f64 = c("own.c", "add")\n'
                       'source s: R = csv("s.csv")\nsink out = s |> map { y: add(a, b) } to csv("out.csv")\n')
    build.compile_program(pipeline.generate(program.read_text(), str(program), {}), "portable", found)
    assert found.items == []


def test_warnings_about_user_c_are_handed_on(tmp_path):
    code = WINDOWED.replace("    result->n", "    int unused;\n    result->n")
    program, found = write(tmp_path, "window count 7", code), Diagnostics()
    build.compile_program(pipeline.generate(program.read_text(), str(program), {}), "portable", found)
    assert [item.severity for item in found.items] == ["warning"] and "unused" in found.items[0].message
