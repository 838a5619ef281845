"""Names and texts that mean something to C, to printf or to the preprocessor: they compile, and mean themselves."""

from __future__ import annotations

import csv
import io
import subprocess

import pytest
from dfc.dsl.builtins import AGGREGATES, CASTS, SCALAR_FUNCTIONS

from tests.e2e.native import compiled

# Words of C, macros of its headers, names of the runtime and of generated code.
WORDS = """
int char double long signed unsigned void static struct union enum typedef sizeof return while for switch case
default goto register restrict inline extern const volatile auto float short break continue do asm typeof main errno
EOF NULL linux unix stdin stdout stderr INT64_MAX UINT8_MAX INT_MAX NAN INFINITY CHAR_BIT M_PI SIGTERM DFRT_OK
DFRT_ABI_VERSION assert isnan signbit offsetof complex I bool alignas noreturn printf malloc free memcpy exit abs
log exp dfrt_x dfrt_add_i64 dfrt__x dfrt_symbol dfrt_run _x __x _Bool _Atomic _Generic _Exit __LINE__ __FILE__
__func__ x_ x__ NULL_ s t time r self head stage counts key keys group groups watermark push emit segment segments
source sources sink sinks step steps edge edges symbols program faults a b left right row record value text window
read index hash compare order store alternates active i j k n count total mean m2 lower upper min max sum avg first
last segment_0 edge_0 main_ read_source int64_t uint32_t size_t int8_t uint64_t pthread_t y0 y1 j0 jn gamma stat
environ time_t FILE va_list tuple times positions source_watermark end_source packed fields field out in app
""".split()


BUILT_IN = frozenset((*SCALAR_FUNCTIONS, *AGGREGATES, *CASTS))


def unique(words: list[str]) -> list[str]:
    return list(dict.fromkeys(words))


def run(text: str, folder, **inputs: str) -> dict[str, list[list[str]]]:
    """Compiles the program in the folder, runs it fused and staged; the rows of each output."""
    program = compiled(text, folder)
    for name, content in inputs.items():
        (folder / f"{name}.csv").write_text(content)
    found = {}
    for layout in ("staged", "fused"):
        answer = program.run("--layout", layout)
        assert (answer.returncode, answer.stderr) == (0, "")
        rows = {path.stem: list(csv.reader(io.StringIO(path.read_bytes().decode(), newline="")))
                for path in folder.glob("*.csv") if path.stem not in inputs}
        assert not found or rows == found
        found = rows
    return found


def test_fields_of_any_name(tmp_path):
    """One record with all of them: read, mapped under another one's name, aggregated, grouped by."""
    words = unique(WORDS)
    fields = ", ".join(f"{word}: i64" for word in words)
    moved = ", ".join(f"{one}: {other} + 1" for one, other in zip(words, words[1:] + words[:1], strict=True))
    summed = ", ".join(f"{word}: sum({word})" for word in words[1:])
    text = (f'app fields\nrecord R {{ {fields} }}\nsource rows: R = csv("rows.csv")\n'
            f'sink moved = rows |> map {{ {moved} }} to csv("moved.csv")\n'
            f'sink summed = rows |> by {words[0]} |> window count 1 |> aggregate {{ {words[0]}, {summed} }}'
            ' to csv("summed.csv")\n')
    values = [str(n) for n in range(len(words))]
    found = run(text, tmp_path, rows=",".join(words) + "\n" + ",".join(values) + "\n")
    assert found["moved"] == [words, [str(int(n) + 1) for n in values[1:] + values[:1]]]
    assert found["summed"] == [words, values]


@pytest.mark.parametrize("part", range(4))
def test_streams_records_functions_and_params_of_any_name(tmp_path, part):
    """A chain of streams, each with a function and a param of the same name: namespaces do not meet in C."""
    words = unique(WORDS)[part::4]
    lines = ["app chain", "record start { v: i64 }", 'source start_: start = csv("rows.csv")']
    before = "start_"
    for n, word in enumerate(words):
        if word in BUILT_IN:
            continue
        lines += [f"record {word} {{ v: i64 }}", f"param p_{word}: int = {n}",
                  f"fn {word}({word}: i64) -> i64 = {word} + 1",
                  f"stream {word} = {before} |> filter v >= 0 |> map {{ v: {word}(v) + p_{word} - {n} }} -> {word}"]
        before = word
    lines.append(f'sink end = {before} to csv("end.csv")')
    found = run("\n".join(lines) + "\n", tmp_path, rows="v\n0\n")
    assert found["end"] == [["v"], [str(sum(line.startswith("stream ") for line in lines))]]


@pytest.mark.parametrize("kind", ["window time 5ms", "window session gap 2ms", "window count 2",
                                  "window count 2 partial"])
def test_keyed_operators_of_any_name(tmp_path, kind):
    """Stores, keys and sinks carry the names of their steps."""
    words = ["int", "time", "key", "s", "s_group", "NULL", "dfrt_x", "_x", "main", "head", "symbols", "segment_0",
             "edges"]
    lines = ["app main", "record R { ts: timestamp<ms>, int: symbol, double: i64 }",
             'source exit: R = csv("rows.csv") event time ts']
    for n, word in enumerate(words):
        lines += [f"stream {word} = exit |> by int, double |> {kind} |> aggregate {{ int, double, NULL: count() }}",
                  f'sink {word}_sink = {word} to csv("out{n}.csv")']
    found = run("\n".join(lines) + "\n", tmp_path, rows="ts,int,double\n1,a,1\n2,a,1\n3,b,1\n9,b,1\n")
    assert len(found) == len(words) and all(rows == found["out0"] for rows in found.values())
    assert found["out0"][0] == ["int", "double", "NULL"] and len(found["out0"]) > 1


@pytest.mark.parametrize("app", ["int", "errno", "main", "EOF", "linux", "dfrt_x", "_x", "NULL", "test", "X", "stdin",
                                 "control", "manifest"])
def test_apps_of_any_name(tmp_path, app):
    text = (f'app {app}\nrecord {app} {{ {app}: i64 }}\nsource {app}_: {app} = csv("rows.csv")\n'
            f'sink out = {app}_ to csv("out.csv")\n')
    assert run(text, tmp_path, rows=f"{app}\n1\n")["out"] == [[app], ["1"]]


TEXTS = ['"', "\\", "\n", "\r\n", "\t", "*/", "/*", "//", "??/", "??'", "%s%n%d", "\0", "a\0b", '");exit(1);("', "\\\n",
         "#define x",
         "é漢🎈", "${x}", "{{ x }}", "{% raw %}", "\x7f", "\x1b[0m", "1\\x41", "\\101", "'", "`", "", " "]


def literal(text: str) -> str:
    plain = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\t": "\\t", "\r": "\\r"}
    return '"' + "".join(plain.get(c) or (c if c.isprintable() else f"\\u{{{ord(c):x}}}") for c in text) + '"'


def test_texts_of_any_kind(tmp_path):
    symbols = ", ".join(f"s{n}: {literal(text)}" for n, text in enumerate(TEXTS))
    same = ", ".join(f"t{n}: note == {literal(text)}" for n, text in enumerate(TEXTS))
    text = ('app texts\nrecord R { note: text<40> }\nsource rows: R = csv("rows.csv")\n'
            f'sink symbols = rows |> map {{ {symbols} }} to csv("symbols.csv")\n'
            f'sink same = rows |> map {{ {same} }} to csv("same.csv")\n')
    table = io.StringIO()
    writer = csv.writer(table, lineterminator="\n", quoting=csv.QUOTE_ALL)
    writer.writerows([["note"], *([text] for text in TEXTS)])
    found = run(text, tmp_path, rows=table.getvalue())
    assert found["symbols"][1:] == [TEXTS] * len(TEXTS)
    assert found["same"][1:] == [[str(n == at).lower() for n in range(len(TEXTS))] for at in range(len(TEXTS))]


FILES = ['quo"te.dfl', "back\\slash.dfl", "new\nline.dfl", "comment*.dfl", "per%s.dfl", "tri??'graph.dfl", "-dash.dfl",
         "a b.dfl", "ünï.dfl", "no_ending", "$HOME.dfl", "co:lon.dfl", "semi;colon.dfl"]


@pytest.mark.parametrize("file", FILES)
def test_program_files_of_any_name(tmp_path, file, dfc):
    """The name stands in `#line` and in comments of the generated C, in the depfile and in the manifest."""
    text = ('app named\nrecord R { n: i64 }\nfn twice(x: i64) -> i64 = x * 2\nsource s: R = csv("in.csv")\n'
            'sink o = s |> filter n > 0 |> map { n: twice(n) } to csv("out.csv")\n')
    (tmp_path / file).write_text(text)
    (tmp_path / "in.csv").write_text("n\n1\n")
    answer = dfc("compile", "-o", "out", "--", file)
    assert (answer.returncode, answer.stderr) == (0, "")
    assert compiled(text, tmp_path).run().returncode == 0
    assert (tmp_path / "out.csv").read_text() == "n\n2\n"


@pytest.mark.parametrize("name", ["a b", "co:l;on", "ap'os $HOME", "new\nline", "per%s", '"#\\(p)'])
def test_folders_and_c_files_of_any_name(tmp_path, dfc, name):
    """The C file, the header that it includes, the folder of the program and the folder that is written."""
    folder = tmp_path / name
    (folder / "sub").mkdir(parents=True)
    header = "h" if set(name) & set('"\\\n') else name  # C has no escapes in the names of headers
    (folder / "sub" / f"{name}.c").write_text(
        f'#include "named.h"\n#include "{header}.h"\n'
        "bool twice(const named_R *t, named_R *r) { r->n = TWO * t->n; return true; }\n")
    (folder / "sub" / f"{header}.h").write_text("#define TWO 2\n")
    path = literal(f"sub/{name}.c")
    (folder / "app.dfl").write_text(f'app named\nrecord R {{ n: i64 }}\nsource s: R = csv("in.csv")\n'
                                    f'operator o on s -> R {{ alternate a = c({path}, "twice") }}\n'
                                    'sink out = o to csv("out.csv")\n')
    (folder / "in.csv").write_text("n\n4\n")
    answer = dfc("compile", "app.dfl", "-o", f"out {name}", cwd=folder)
    assert (answer.returncode, answer.stderr) == (0, "")
    out = folder / f"out {name}"
    (out / "named").unlink()
    made = subprocess.run(["make"], cwd=out, capture_output=True, text=True)
    assert made.returncode == 0 and "warning" not in made.stderr, made.stderr
    assert subprocess.run([out / "named"], cwd=folder).returncode == 0
    assert (folder / "out.csv").read_text() == "n\n8\n"


def test_a_c_error_in_such_a_file_is_shown_there(tmp_path, dfc):
    """The compiler speaks of the name in its own way; the user sees the file."""
    text = ('app named\nrecord R { n: i64 }\nsource s: R = csv("in.csv")\n'
            'operator op on s window count 2 -> R {\n  alternate a value 1.0 = c("a b\\\\.c", "nothing")\n}\n'
            'sink o = op to csv("out.csv")\n')
    (tmp_path / 'my "app".dfl').write_text(text)
    (tmp_path / "a b\\.c").write_text('#include "named.h"\nint broken( { }\n')
    answer = dfc("compile", 'my "app".dfl')
    assert answer.returncode == 1 and "E0901" in answer.stderr and "a b\\.c:2:" in answer.stderr, answer.stderr
