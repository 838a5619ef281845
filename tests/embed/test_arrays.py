"""Fields that are arrays, of texts, symbols, times and arrays, go in and come out as numpy and Arrow have them."""

from __future__ import annotations

import pytest

np = pytest.importorskip("numpy")
import dfc  # noqa: E402

PROGRAM = """\
app arrays
record Row {
  id: i32, v: text<5>[2], s: symbol[2], m: i16[2][3], b: bool[2], at: timestamp<ms>[2], t: text<4>[2][2], x: f32[2],
}
record Plain { id: i32, s: symbol[2], b: bool[2], at: timestamp<ms>[2] }
record Texts { v: text<4>[2] }
source rows: Row = csv("rows.csv")
source plain: Plain = csv("plain.csv")
source texts: Texts = csv("texts.csv")
sink out = rows to csv("out.csv")
sink same = plain to csv("same.csv")
sink read = texts |> map { a: v[0], b: v[1] } to csv("read.csv")
"""
V = [["a", "zürich"[1:5]], ["", "12345"], ["日", "a"]]
S = [["one", "two"], ["two", "two"], ["", "a longer one"]]
M = [[[1, 2, 3], [4, 5, 6]], [[7, 8, 9], [10, 11, 12]], [[-1, -2, -3], [-4, -5, -6]]]
T = [[["a", "b"], ["c", "dddd"]], [["", "é"], ["f", "g"]], [["h", "i"], ["j", "k"]]]
GIVEN = {"id": np.arange(3), "v": V, "s": S, "m": M, "b": [[True, False], [False, False], [True, True]],
         "at": np.array([[1, 2], [3, 4], [5, 6]]).astype("M8[s]"), "t": T,
         "x": np.array([[.5, 1], [2, 3], [4, 5]], "f4")}


@pytest.fixture(scope="module")
def program():
    return dfc.load(PROGRAM)


def run(program, rows=(), plain=(), texts=()):
    """Sources that are not named are empty."""
    return program.run(rows=rows, plain=plain, texts=texts)


def texts_of(values, form):
    array = np.array(values)
    return np.char.encode(array, "utf-8") if form == "S" else array.astype(form)


def check(rows) -> None:
    assert (rows.text("v").tolist(), rows.text("t").tolist(), rows.text("s").tolist()) == (V, T, S)
    assert (rows["m"].tolist(), rows["b"].tolist(), rows["x"].tolist()) == (M, GIVEN["b"], GIVEN["x"].tolist())
    assert rows["at"].astype("M8[s]").tolist() == GIVEN["at"].tolist() and rows["id"].tolist() == [0, 1, 2]


@pytest.mark.parametrize("form", ["U", "S", "O", np.dtypes.StringDType(), "list"])
def test_every_form_of_texts(program, form):
    changed = {} if form == "list" else {name: texts_of(GIVEN[name], form) for name in ("v", "s", "t")}
    check(run(program, {**GIVEN, **changed})["out"])


def test_texts_are_read_by_the_program(program):
    read = run(program, texts={"v": [["a", "bcde"], ["", "ü"]]})["read"]
    assert (read.text("a").tolist(), read.text("b").tolist()) == (["a", ""], ["bcde", "ü"])


def test_records_in_the_programs_dtype(program):
    given = np.zeros(2, program.dtype("texts"))
    given["v"]["text"] = [[b"a", b"bcde"], [b"", b"b"]]
    read = run(program, texts=given)["read"]
    assert (read.text("a").tolist(), read.text("b").tolist()) == (["a", ""], ["bcde", "b"])
    check(run(program, run(program, GIVEN)["out"])["out"])


def test_codes(program):
    codes = dfc.Symbols(np.array([[0, 1], [1, 1], [2, 3]], ">i8"), ["one", "two", "", "a longer one"])
    assert run(program, {**GIVEN, "s": codes})["out"].text("s").tolist() == S
    numbers = program.symbols(["one", "two"])
    assert run(program, {**GIVEN, "s": numbers[[[0, 1], [1, 1], [0, 0]]]})["out"].text("s")[1].tolist() == ["two"] * 2
    found, categories = run(program, GIVEN)["out"].symbols("s")
    assert found.shape == (3, 2) and categories[found].tolist() == S


def test_results_of_another_program(program):
    other = dfc.load(PROGRAM.replace("app arrays", "app others"))
    other.symbols(["shifts", "the", "numbers"])
    check(run(program, run(other, GIVEN)["out"])["out"])


@pytest.mark.parametrize(("field", "column", "message"), [
    ("v", [["a", "b"], ["c", "123456"], ["d", "e"]], "expected at most 5 bytes of UTF-8, got 6 bytes"),
    ("v", ["a", "b", "c"], r"expected an array of shape \(…, 2\), got shape \(3,\)"),
    ("v", [["a"], ["b"], ["c"]], r"expected an array of shape \(…, 2\), got shape \(3, 1\)"),
    ("v", [[1, 2]] * 3, "expected texts of at most 5 bytes, got int64"),
    ("v", [["a"], ["b", "c"], ["d"]], "expected an array"),
    ("m", [[1, 2]] * 3, r"expected an array of shape \(…, 2, 3\), got shape \(3, 2\)"),
    ("m", np.full((3, 2, 3), 40_000), "expected i16 from -32768 to 32767, got 40000 to 40000"),
    ("m", [[[1], [2]], [[1]], [[1]]], "expected an array"),
    ("s", np.full((3, 2), 10**9, "u4"), r"expected numbers that Program.symbols\(\) gave, got 1000000000"),
    ("s", dfc.Symbols(np.array([[0, 1]] * 3), ["a"]), "expected codes from 0 to 0, got 1 to 1"),
    ("s", dfc.Symbols(np.array([0, 0, 0]), ["a"]), r"expected an array of shape \(…, 2\), got shape \(3,\)"),
    ("at", np.full((3, 2), "NaT", "M8[ms]"), "expected a time, got NaT"),
])
def test_columns_that_do_not_fit(program, field, column, message):
    with pytest.raises(dfc.BadData, match=f"field `{field}`: {message}"):
        run(program, {**GIVEN, field: column})


@pytest.mark.parametrize(("field", "value", "message"), [
    ("s", 10**9, r"numbers that Program.symbols\(\) gave"), ("b", 2, "bool, which is 0 or 1"), ("at", -2**63, "a time"),
])
def test_records_in_place_that_do_not_fit(program, field, value, message):
    given = np.zeros(3, program.dtype("plain"))
    assert len(run(program, plain=given)["same"]) == 3
    given[field].view({"s": "u4", "b": "u1", "at": "i8"}[field])[1, 1] = value
    with pytest.raises(dfc.BadData, match=f"field `{field}`: expected {message}"):
        run(program, plain=given)


def test_what_is_no_symbol(program):
    rows = run(program, GIVEN)["out"]
    for field in ("id", "v", "m", "nothing", 0):
        with pytest.raises(TypeError, match=f"`{field}` is no symbol of these rows"):
            rows.symbols(field)
    for field in ("id", "m", "nothing"):
        with pytest.raises(TypeError, match=f"`{field}` is no symbol or text of these rows"):
            rows.text(field)
    rows["s"][1, 1] = 10**9
    with pytest.raises(ValueError, match="`s`: 1000000000 is the number of no symbol"):
        rows.text("s")


def test_arrow(program):
    pa = pytest.importorskip("pyarrow")
    table = program.run(rows=GIVEN, plain=(), texts=(), arrow=True)["out"]
    assert table.num_rows == 3 and table.column("v").type == pa.list_(pa.string(), 2)
    assert [table.column(name).to_pylist() for name in ("v", "s", "m", "t", "b")] == [V, S, M, T, GIVEN["b"]]
    check(run(program, table)["out"])
    check(run(program, pa.concat_tables([table.slice(0, 1), table.slice(1)]))["out"])
    empty = run(program)["out"].to_arrow()
    assert empty.num_rows == 0 and empty.schema == table.schema
    nulls = table.set_column(1, "v", pa.array([["a", None]] * 3, pa.list_(pa.string(), 2)))
    with pytest.raises(dfc.BadData, match="field `v`: expected no nulls, got 3"):
        run(program, nulls)
    wrong = table.set_column(1, "v", pa.array(V, pa.list_(pa.string())))
    with pytest.raises(dfc.BadData, match="field `v`: expected an array of shape"):
        run(program, wrong)
