"""The package `dfc`: check, compile, and load, which runs a program on arrays."""

from __future__ import annotations

import re
import subprocess
import threading

import pytest

np = pytest.importorskip("numpy")
import dfc  # noqa: E402
from dfc.compiler.failure import Usage  # noqa: E402

from tests.embed.embedding import PROGRAMS  # noqa: E402

PAIRS = """\
app sums
param least: int = 0
record Item { key: symbol, n: i32, at: timestamp<ms>, note: text<8>, good: bool, w: f32 }
record Sum { key: symbol, total: i64, note: text<8>, at: timestamp<ms> }
source items: Item = csv("items.csv") event time at slack 10ms
stream kept = items |> filter n >= least
operator pairs on kept by key window count 2 -> Sum {
  alternate newest value 1.0 = { key, total: sum(n), note: last(note), at: last(at) }
  alternate oldest value 0.5 = { key, total: sum(n), note: first(note), at: first(at) }
}
sink out = pairs to csv("out.csv")
"""


def columns(**changed) -> dict:
    good = {"key": np.array(["a", "b", "a", "ü"]), "n": np.array([1, 2, 3, 4]), "at": np.array([10, 20, 30, 40]),
            "note": np.array(["x", "y", "zürich", "w"]), "good": np.array([True, False, True, False]),
            "w": np.array([1, 2, 3, 4], dtype="f4")}
    return {**good, **changed}


@pytest.fixture(scope="module")
def sums():
    return dfc.load(PAIRS)


# --- batches -------------------------------------------------------------------------------------------


def split(array: np.ndarray, size: int) -> list[np.ndarray]:
    return [array[at:at + size] for at in range(0, len(array), size)]


@pytest.mark.parametrize("workers", [1, 3])
def test_batches_give_what_the_whole_gives(sums, workers):
    program = dfc.load(PAIRS, workers=workers)
    array = np.zeros(5000, dtype=[("key", "U2"), ("n", "i8"), ("at", "i8"), ("note", "S8"), ("good", "?"), ("w", "f4")])
    array["key"], array["n"], array["at"] = np.arange(5000) % 7, np.arange(5000), np.arange(5000) * 2
    whole = program.run(items=array)["out"]
    assert len(whole) == 2499
    assert (program.run(items=iter(split(array, 77)))["out"] == whole).all()
    parts = [rows for name, rows in program.stream(items=iter(split(array, 500))) if name == "out"]
    assert (np.concatenate(parts) == whole).all() and (workers > 1 or len(parts) > 5)


def test_a_stream_can_be_pushed_and_asked(sums):
    with sums.open() as stream:
        stream.push(items=columns())
        assert stream.poll()["out"].text("key").tolist() == ["a"]
        stream.push(items=columns(at=np.array([5, 50, 60, 70])))
        results = stream.drain()["out"]
        assert results.text("key").tolist() == ["b", "ü"]
        assert stream.counts("items") == {"out": 7, "late": 1, "faults": 0}
    with pytest.raises(dfc.RunFailed, match="closed"):
        stream.poll()


# --- what comes in ------------------------------------------------------------------------------------


def test_texts_symbols_and_times(sums):
    rows = sums.run(items=columns())["out"]
    assert rows.dtype == sums.dtype("out")
    assert (rows.text("key").tolist(), rows["total"].tolist(), rows.text("note").tolist()) == (["a"], [4], ["zürich"])
    assert rows["at"].tolist() == [np.datetime64(30, "ms").item()]
    codes, categories = rows.symbols("key")
    assert (codes.tolist(), categories.tolist()) == ([0], ["a"])


@pytest.mark.parametrize("changed", [
    {"key": dfc.Symbols(np.array([1, 0, 1, 2], dtype="i1"), ["b", "a", "ü"])},
    {"key": np.array(["a", "b", "a", "ü"], dtype=object)},
    {"key": np.array([text.encode() for text in "abaü"])},
    {"at": np.array([10, 20, 30, 40], dtype="M8[ms]")},
    {"at": np.array([10, 20, 30, 40], dtype="M8[ms]").astype("M8[ns]")},
    {"n": np.array([1, 2, 3, 4], dtype=">u2")}, {"w": np.array([1, 2, 3, 4], dtype="f2")},
], ids=["codes", "objects", "bytes", "datetime", "nanoseconds", "big endian", "half"])
def test_other_forms_of_the_same(sums, changed):
    assert (sums.run(items=columns(**changed))["out"] == sums.run(items=columns())["out"]).all()


def test_an_array_of_the_programs_dtype_is_not_copied():
    program = dfc.load(re.sub(r"note: (last|first)\(note\), ", "", PAIRS.replace(", note: text<8>", "")))
    array = np.zeros(4, program.dtype("items"))
    array["key"], array["n"], array["at"] = program.symbols(["a", "b", "a", "a"]), [1, 2, 3, 4], np.arange(4)
    assert program._intakes["items"].records(array) is array
    assert program.run(items=array)["out"]["total"].tolist() == [4]
    array["at"][2] = np.datetime64("NaT")
    with pytest.raises(dfc.BadData, match="field `at`: expected a time, got NaT"):
        program.run(items=array)
    array["key"] = 1 << 31
    with pytest.raises(dfc.BadData, match="field `key`: expected numbers that Program.symbols"):
        program.run(items=array)


def test_results_of_one_program_go_into_another(sums):
    rows = sums.run(items=columns())["out"]
    other = dfc.load('app other\nrecord Sum { key: symbol, total: i64, note: text<8>, at: timestamp<ms> }\n'
                     'source sums: Sum = csv("a")\nsink out = sums to csv("b")\n')
    other.symbols(["other", "numbers", "here"])
    assert other.run(sums=rows)["out"].text("key").tolist() == ["a"]


@pytest.mark.parametrize(("changed", "message"), [
    ({"n": np.array([1, 2, 3, 1 << 40])},
     "field `n`: expected i32 from -2147483648 to 2147483647, got 1 to 1099511627776"),
    ({"n": np.array([1.0, 2, 3, 4])}, "field `n`: expected int32, got float64"),
    ({"w": np.array([1.0, 2, 3, 4])}, "field `w`: expected float32, got float64"),
    ({"good": np.array([0, 1, 0, 1])}, "field `good`: expected bool, got int64"),
    ({"note": np.array(["123456789"] * 4)}, "field `note`: expected at most 8 bytes of UTF-8, got 9 bytes"),
    ({"key": np.array([1, 2, 3, 4])}, "field `key`: expected texts"),
    ({"key": dfc.Symbols(np.array([0, 1, 2, 3]), ["a"])}, "field `key`: expected codes from 0 to 0, got 0 to 3"),
    ({"key": np.array([b"\xff"] * 4)}, "field `key`: expected UTF-8"),
    ({"at": np.array([1.5] * 4)}, r"field `at`: expected datetime64\[ms\] or whole numbers of ms, got float64"),
    ({"at": np.array([1001] * 4, dtype="M8[us]")}, "field `at`: expected whole numbers of ms"),
    ({"at": np.array(["NaT"] * 4, dtype="M8[ms]")}, "field `at`: expected a time, got NaT"),
    ({"n": np.array([1])}, "columns of different lengths"),
    ({"more": np.array([1])}, "source `items` has no field `more`; expected key, n, at"),
])
def test_data_that_does_not_fit(sums, changed, message):
    with pytest.raises(dfc.BadData, match=message):
        sums.run(items=columns(**changed))


def test_wrong_calls(sums):
    with pytest.raises(dfc.BadData, match="no source `quotes`; expected items"):
        sums.run(quotes=columns())
    with pytest.raises(dfc.BadData, match="source `items` is missing"):
        sums.run()
    with pytest.raises(dfc.BadData, match="there is no field `n`"):
        sums.run(items={"key": np.array(["a"])})
    with pytest.raises(dfc.BadData, match="expected a structured array of one dimension"):
        sums.run(items=np.zeros((2, 2)))
    with pytest.raises(dfc.BadData, match="workers: expected a number from 1 to 256, got 0"):
        dfc.load(PAIRS, workers=0)
    with pytest.raises(dfc.BadData, match="no alternate `x` of `pairs`; expected pairs: newest or oldest"):
        dfc.load(PAIRS, alternates={"pairs": "x"})


@pytest.mark.parametrize("given", [None, [columns(), None, columns()], iter([None])], ids=["alone", "between", "first"])
def test_none_is_no_batch(sums, given):
    """It does not end a source in silence."""
    with pytest.raises(dfc.BadData, match="source `items`: expected a structured array .*, not None"):
        sums.run(items=given)
    with pytest.raises(dfc.BadData, match="source `items`: expected a structured array .*, not None"):
        list(sums.stream(items=[columns(), None]))
    with sums.open() as stream, pytest.raises(dfc.BadData, match="not None"):
        stream.push(items=None)


@pytest.mark.parametrize("name", ["clock", "arrow", "self"])
def test_sources_of_any_name(name):
    """A mapping takes what a keyword can't."""
    program = dfc.load(f'app any_name\nrecord Q {{ x: i64 }}\nsource {name}: Q = csv("q.csv")\n'
                       f'source more: Q = csv("m.csv")\nsink out = {name} to discard()\n'
                       'sink rest = more to discard()\n')
    batch, more = {"x": np.arange(3)}, {"x": np.arange(2)}
    assert program.run({name: batch}, more=more)["out"]["x"].tolist() == [0, 1, 2]
    assert sum(len(rows) for _, rows in program.stream({name: batch, "more": more})) == 5
    with program.open() as stream:
        stream.push({name: batch}, more=more)
        assert len(stream.drain()["out"]) == 3
    with pytest.raises(dfc.BadData, match=rf"source `{name}` is missing.*run\(\{{\"{name}\": …\}}\)"):
        program.run(more=more)


def test_sources_given_twice_or_not_as_a_mapping(sums):
    with pytest.raises(dfc.BadData, match="source `items` is given twice"):
        sums.run({"items": columns()}, items=columns())
    with pytest.raises(dfc.BadData, match="expected a mapping of sources"):
        sums.run(np.arange(3))


def test_params_and_alternates():
    program = dfc.load(PAIRS, params={"least": 2}, alternates={"pairs": "oldest"})
    more = columns(key=np.array(["a", "a", "a", "a"]))
    rows = program.run(items=more)["out"]
    assert (rows["total"].tolist(), rows.text("note").tolist()) == ([5], ["y"])


# --- arrow, threads, errors ---------------------------------------------------------------------------


def test_arrow(sums):
    pa = pytest.importorskip("pyarrow")
    table = pa.table({name: pa.array(column) for name, column in columns().items()})
    table = table.set_column(0, "key", table["key"].combine_chunks().dictionary_encode())
    table = table.set_column(2, "at", table["at"].cast(pa.timestamp("ms")))
    expected = sums.run(items=columns())["out"]
    halves = pa.concat_tables([table.slice(0, 2), table.slice(2)])
    for given in (table, table.to_batches()[0], halves, table.to_reader()):
        assert (sums.run(items=given)["out"] == expected).all()
    out = sums.run(items=table, arrow=True)["out"]
    assert out.to_pylist() == [{"key": "a", "total": 4, "note": "zürich", "at": out["at"][0].as_py()}]
    assert pa.types.is_dictionary(out.schema.field("key").type)
    with pytest.raises(dfc.BadData, match="field `n`: expected no nulls, got 1"):
        sums.run(items=table.set_column(1, "n", pa.array([1, 2, 3, None])))


def test_programs_run_side_by_side(sums):
    """Two programs, one of them loaded twice and run by two threads at once."""
    pairs, again, count = dfc.load(PROGRAMS / "pairs.dfl", workers=2), dfc.load(PAIRS, workers=3), 4000
    items = columns(key=np.array(["k"] * count), n=np.arange(count), at=np.arange(count), note=np.array(["x"] * count),
                    good=np.zeros(count, bool), w=np.zeros(count, "f4"))
    points = {"id": np.arange(count), "name": np.array(["A"] * count), "x": np.arange(float(count))}
    totals, seconds, wrong = list(range(1, 2 * count, 4)), list(range(1, count, 2)), []

    def check(program, field: str, expected: list, **sources) -> None:
        for _ in range(5):
            if program.run(**sources)["out"][field].tolist() != expected:
                wrong.append(program)

    threads = [threading.Thread(target=check, args=(one, "total", totals), kwargs={"items": items})
               for one in (sums, again, sums)]
    threads.append(threading.Thread(target=check, args=(pairs, "second", seconds), kwargs={"points": points}))
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_check_answers_diagnostics(tmp_path):
    assert dfc.check(PAIRS) == []
    (wrong,) = dfc.check(PAIRS.replace("sum(n), note: last", "sum(m), note: last"))
    assert wrong.code.startswith("E") and (wrong.span.file, wrong.span.line) == ("<text>", 8)
    (tmp_path / "a.dfl").write_text(PAIRS)
    assert dfc.check(tmp_path / "a.dfl") == dfc.check(str(tmp_path / "a.dfl")) == []
    with pytest.raises(FileNotFoundError):
        dfc.check("no such file.dfl")
    with pytest.raises(dfc.ProgramError):
        dfc.load(PAIRS.replace("sum(n)", "sum(m)"))


def test_compile_answers_paths_and_manifest(tmp_path):
    made = dfc.compile(PAIRS, tmp_path / "out", params={"least": 3}, emit=("lib", "exe", "plan"))
    assert made.app == "sums" and made.program.exists() and made.header.name == "sums.h"
    assert [path.name for path in made.libraries] == ["libsums.a", "libsums.so"]
    assert made.manifest["params"] == {"least": "3"} and made.outputs["sums.plan"].exists()
    assert made.manifest["interface"]["sources"][0]["name"] == "items"


@pytest.mark.parametrize(("words", "message"), [
    ({"emit": ("zz",)}, "emit zz: there is ast, graph, plan, c, header, control, lib, exe"),
    ({"emit": ("lib,exe",)}, "emit lib,exe: there is ast"),
    ({"emit": (7,)}, "emit 7: there is ast"),
    ({"emit": "lib"}, r"emit: expected a tuple of words, such as \('lib',\), got 'lib'"),
    ({"emit": 7}, "emit: expected a tuple of words"),
    ({"target": "nope"}, "target nope: there is portable, native"),
])
def test_words_that_compile_does_not_know(tmp_path, words, message):
    with pytest.raises(Usage, match=message):
        dfc.compile(PAIRS, tmp_path / "out", **words)
    assert not (tmp_path / "out").exists()


def test_load_has_the_targets_of_compile():
    with pytest.raises(Usage, match="target nope: there is portable, native"):
        dfc.load(PAIRS, target="nope")
    assert dfc.load(PAIRS, target="portable").name == "sums"


def test_arrays_and_durations():
    program = dfc.load("app arrays\nrecord A { id: i32, xs: f64[3], d: duration<ms>, at: timestamp<min> }\n"
                       "record B { id: i32, xs: f64[3], s: f64, d: duration<ms>, at: timestamp<min> }\n"
                       'source a: A = csv("a.csv")\nstream b = a |> map { id, xs, s: xs[0] + xs[2], d, at } -> B\n'
                       "sink out = b to discard()\n")
    given = {"id": np.arange(2), "xs": np.arange(6.0).reshape(2, 3), "d": np.array([1, 2], "m8[s]"),
             "at": np.array([3, 4])}
    rows = program.run(a=given)["out"]
    assert (rows["s"].tolist(), rows["d"].astype("i8").tolist()) == ([2.0, 8.0], [1000, 2000])
    assert rows["xs"].tolist() == given["xs"].tolist() and rows["at"].astype("i8").tolist() == [3, 4]
    with pytest.raises(dfc.BadData, match=r"field `xs`: expected an array of shape \(…, 3\), got shape \(2,\)"):
        program.run(a={**given, "xs": np.arange(2.0)})


def test_processing_time_passes_with_poll():
    program = dfc.load("app now\nrecord T { id: i32 }\nrecord N { n: i64 }\n"
                       'source a: T = csv("a.csv") processing time\n'
                       "operator o on a window time 1ms -> N { alternate only value 1.0 = { n: count() } }\n"
                       "sink out = o to discard()\n")
    with program.open() as stream:
        stream.push(a={"id": np.arange(5)})
        found = 0
        while found < 5:  # ends as soon as a millisecond has passed
            found += stream.poll()["out"]["n"].sum()
        assert (found, len(stream.drain()["out"])) == (5, 0)


CLOCKED = """\
app clocked
record T { id: i32 }
record N { n: i64, start: timestamp<ns> }
source a: T = csv("a.csv") processing time
stream o = a |> window time 10ns |> aggregate { n: count(), start: window_start } -> N
sink out = o to csv("out.csv")
"""


@pytest.mark.parametrize("workers", [1, 3])
def test_a_given_clock(tmp_path, workers):
    """As `--clock START+STEP` of the binary."""
    made, array = dfc.compile(CLOCKED, tmp_path, emit=("exe",)), {"a": {"id": np.arange(50, dtype="i4")}}
    (tmp_path / "a.csv").write_text("id\n" + "".join(f"{n}\n" for n in range(50)))
    subprocess.run([made.program, "--clock", "1000+3"], cwd=tmp_path, check=True, timeout=300)
    wanted = [tuple(map(int, line.split(","))) for line in (tmp_path / "out.csv").read_text().splitlines()[1:]]
    loaded, other = dfc.load(CLOCKED, workers=workers, clock=(1000, 3)), dfc.load(CLOCKED, workers=workers)
    assert [(n, int(at)) for n, at in loaded.run(**array)["out"].tolist()] == wanted
    assert [(n, int(at)) for n, at in other.run(clock=(1000, 3), **array)["out"].tolist()] == wanted
    parts = other.stream(clock=(1000, 3), a=iter([{"id": np.arange(20)}, {"id": np.arange(30)}]))
    assert [int(n) for _, rows in parts for n in rows["n"]] == [n for n, _ in wanted]
    with other.open(clock=(1000, 0)) as stream:  # time stands still
        stream.push(**array)
        assert stream.drain()["out"]["n"].tolist() == [50]


@pytest.mark.parametrize("clock", [(0, -1), (0.5, 1), 7, (1 << 63, 1)])
def test_a_clock_that_is_none(clock):
    with pytest.raises(dfc.BadData, match=r"clock: expected \(start, step\) in nanoseconds"):
        dfc.load(CLOCKED, clock=clock)
