"""`dfc.load`: arrays in, arrays out, and the same results as the binary."""

from __future__ import annotations

import csv
import subprocess
import threading
from pathlib import Path

import pytest

np = pytest.importorskip("numpy")
import dfc  # noqa: E402
from dfc.compiler.build import compile_program  # noqa: E402
from dfc.compiler import pipeline  # noqa: E402

from tests.embed.embedding import PROGRAMS, values  # noqa: E402

CASES = sorted(Path(__file__).parents[1].glob("conformance/cases/*/program.dfl"))
PAIRS = """\
app sums
param least: int = 0
record Item { key: symbol, n: i32, at: timestamp<ms>, note: text<8>, good: bool, w: f32 }
record Sum { key: symbol, total: i64, note: text<8>, at: timestamp<ms> }
source items: Item = csv("items.csv") event time at slack 10ms
operator pairs on items |> filter n >= least by key window count 2 -> Sum {
  alternate newest value 1.0 = { key, total: sum(n), note: last(note), at: last(at) }
  alternate oldest value 0.5 = { key, total: sum(n), note: first(note), at: first(at) }
}
sink out = pairs to csv("out.csv")
""".replace("operator pairs on items |> filter n >= least by", "stream kept = items |> filter n >= least\n"
            "operator pairs on kept by")


def columns(**changed) -> dict:
    good = {"key": np.array(["a", "b", "a", "ü"]), "n": np.array([1, 2, 3, 4]), "at": np.array([10, 20, 30, 40]),
            "note": np.array(["x", "y", "zürich", "w"]), "good": np.array([True, False, True, False]),
            "w": np.array([1, 2, 3, 4], dtype="f4")}
    return {**good, **changed}


@pytest.fixture(scope="module")
def sums():
    return dfc.load(PAIRS)


# --- the same as the binary ---------------------------------------------------------------------------


def read_columns(path: Path, dtype: np.dtype) -> dict:
    """The columns of a CSV file as plain arrays; texts stay texts."""
    with open(path, newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    def column(name: str) -> np.ndarray:
        words = [row[name] for row in rows]
        kind = dtype[name].kind
        if kind == "b":
            return np.array([word == "true" for word in words], dtype=bool)
        return np.array([int(w) if kind in "iuM" else float(w) for w in words]) if kind in "iuMf" else np.array(words)

    return {name: column(name) for name in dtype.names}


def native(program: Path, folder: Path, specs: dict[str, Path]) -> dict[str, list]:
    bundle = pipeline.generate(program.read_text(), str(program), {}, embed=True)
    sinks = [sink.name for sink in bundle.interface.sinks]
    words = [word for sink in sinks for word in ("--sink", f"{sink}=csv:{folder / sink}")]
    words += [word for name, path in specs.items() for word in ("--source", f"{name}=csv:{path}")]
    subprocess.run([compile_program(bundle, "native"), "--quiet", *words], check=True, timeout=300, cwd=program.parent)
    return {sink: values((folder / sink).read_text())[1:] for sink in sinks}


def as_values(rows) -> list[list]:
    """Rows as `values` reads them from the binary's CSV."""
    def column(name: str) -> list:
        kind = rows.dtype[name].kind
        if rows.record.field(name).type.__class__.__name__ in ("Symbol", "Text"):
            return values("\n".join(rows.text(name)) + "\n") and [_value(one) for one in rows.text(name)]
        if kind == "b":
            return ["true" if one else "false" for one in rows[name].tolist()]
        return (rows[name].astype("i8") if kind in "mM" else rows[name]).astype("f8").tolist()

    return [list(row) for row in zip(*map(column, rows.dtype.names), strict=True)]


def _value(word: str) -> object:
    return values(word)[0][0] if word else word


def sources_of(program: Path) -> dict[str, Path]:
    """The files that the program's sources read."""
    checked = pipeline.check(program.read_text(), str(program), {})
    return {step.name: program.parent / step.body.connector.path for step in checked.steps
            if type(step.body).__name__ == "Source" and step.body.connector.kind == "csv"}


@pytest.mark.parametrize("workers", [1, 3])
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.parent.name)
def test_a_conformance_case_gives_what_the_binary_gives(case, workers, tmp_path):
    specs, program = sources_of(case), dfc.load(case, workers=workers)
    if set(specs) != set(program.sources):
        pytest.skip("a source that is no CSV file")
    arrays = {name: read_columns(path, program.dtype(name)) for name, path in specs.items()}
    results = program.run(**arrays)
    assert {name: as_values(rows) for name, rows in results.items()} == native(case, tmp_path, specs)


def split(array: np.ndarray, size: int) -> list[np.ndarray]:
    return [array[at:at + size] for at in range(0, len(array), size)]


@pytest.mark.parametrize("workers", [1, 3])
def test_batches_give_what_the_whole_gives(sums, workers):
    program = dfc.load(PAIRS, workers=workers)
    array = np.zeros(5000, dtype=[("key", "U2"), ("n", "i8"), ("at", "i8"), ("note", "S8"), ("good", "?"), ("w", "f4")])
    array["key"], array["n"], array["at"] = np.arange(5000) % 7, np.arange(5000), np.arange(5000) * 2
    whole = program.run(items=array)["out"]
    assert len(whole) == 2497
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
    {"at": np.array([10, 20, 30, 40], dtype="M8[ms]")}, {"at": np.array([10, 20, 30, 40], dtype="M8[ms]").astype("M8[ns]")},
    {"n": np.array([1, 2, 3, 4], dtype=">u2")}, {"w": np.array([1, 2, 3, 4], dtype="f2")},
], ids=["codes", "objects", "bytes", "datetime", "nanoseconds", "big endian", "half"])
def test_other_forms_of_the_same(sums, changed):
    assert (sums.run(items=columns(**changed))["out"] == sums.run(items=columns())["out"]).all()


def test_an_array_of_the_programs_dtype_is_not_copied():
    program = dfc.load(PAIRS.replace(", note: text<8>", "").replace("note: last(note), ", "").replace("note: first(note), ", ""))
    array = np.zeros(4, program.dtype("items"))
    array["key"], array["n"], array["at"] = program.symbols(["a", "b", "a", "a"]), [1, 2, 3, 4], np.arange(4)
    assert program._intakes["items"].records(array) is array
    assert program.run(items=array)["out"]["total"].tolist() == [4]
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
    ({"n": np.array([1, 2, 3, 1 << 40])}, "field `n`: expected i32 from -2147483648 to 2147483647, got 1 to 1099511627776"),
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
    for given in (table, table.to_batches()[0], pa.concat_tables([table.slice(0, 2), table.slice(2)]), table.to_reader()):
        assert (sums.run(items=given)["out"] == expected).all()
    out = sums.run(items=table, arrow=True)["out"]
    assert out.to_pylist() == [{"key": "a", "total": 4, "note": "zürich", "at": out["at"][0].as_py()}]
    assert pa.types.is_dictionary(out.schema.field("key").type)
    with pytest.raises(dfc.BadData, match="field `n`: expected no nulls, got 1"):
        sums.run(items=table.set_column(1, "n", pa.array([1, 2, 3, None])))


def test_programs_run_side_by_side(sums):
    orders = dfc.load(PROGRAMS / "pairs.dfl", workers=2)
    again = dfc.load(PAIRS, workers=3)
    items = columns(key=np.array(["k"] * 4000), n=np.arange(4000), at=np.arange(4000), note=np.array(["x"] * 4000),
                    good=np.zeros(4000, bool), w=np.zeros(4000, "f4"))
    points = {"id": np.arange(4000), "name": np.array(["A"] * 4000), "x": np.arange(4000.0)}
    expected, wrong = [2 * n + 1 for n in range(0, 4000, 2)], []

    def check(run, answer) -> None:
        for _ in range(5):
            if run() != answer:
                wrong.append(run)

    work = [(lambda p=p: p.run(items=items)["out"]["total"].tolist(), expected[:]) for p in (sums, again, sums)]
    work.append((lambda: orders.run(points=points)["out"]["second"].tolist(), list(np.arange(1.0, 4000, 2))))
    expected_totals = [4 * half + 1 for half in range(2000)]
    work = [(run, expected_totals if answer == expected else answer) for run, answer in work]
    threads = [threading.Thread(target=check, args=one) for one in work]
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
