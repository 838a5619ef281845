"""Columns of numpy and Arrow go into records and out of them with one copy, whatever form their strings have."""

from __future__ import annotations

import tracemalloc

import pytest

np = pytest.importorskip("numpy")
import dfc  # noqa: E402

PROGRAM = """\
app columns
record Row { id: i32, key: symbol, note: text<9>, good: bool, at: timestamp<ms>, w: f32, xs: i16[2] }
source rows: Row = csv("rows.csv")
sink out = rows to csv("out.csv")
"""
TEXTS = ["a", "", "zürich", "日本語", "a\0b", "🙂🙂", "123456789", "a"]
COUNT = 100_000


@pytest.fixture(scope="module")
def program():
    return dfc.load(PROGRAM)


def columns(count: int = len(TEXTS), **changed) -> dict:
    texts = np.array((TEXTS * (count // len(TEXTS) + 1))[:count])
    good = {"id": np.arange(count, dtype="i4"), "key": texts, "note": texts, "good": np.arange(count) % 3 == 0,
            "at": np.arange(count).astype("M8[ms]"), "w": np.arange(count, dtype="f4"),
            "xs": np.arange(2 * count, dtype="i2").reshape(count, 2)}
    return {**good, **changed}


def utf8(texts) -> np.ndarray:
    return np.array([text.encode() for text in texts])


def coded(texts) -> dfc.Symbols:
    categories = sorted(set(texts))
    return dfc.Symbols(np.array([categories.index(text) for text in texts], dtype="u1"), categories)


FORMS = {
    "U": np.array, "S": utf8, "objects": lambda texts: np.array(list(texts), dtype=object), "list": list,
    "bytes objects": lambda texts: np.array([text.encode() for text in texts], dtype=object),
    "StringDType": lambda texts: np.array(list(texts), dtype=np.dtypes.StringDType()),
    "big endian": lambda texts: np.array(list(texts)).astype(np.array(list(texts)).dtype.newbyteorder(">")),
    "backwards": lambda texts: np.array(list(texts)[::-1])[::-1], "codes": coded,
    "codes of numpy texts": lambda texts: dfc.Symbols(*reversed(np.unique(np.array(list(texts)), return_inverse=True))),
    "big endian codes": lambda texts: coded(texts)._replace(codes=coded(texts).codes.astype(">i8")),
}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("field", ["key", "note"])
def test_every_form_of_strings(program, field, form):
    rows = program.run(rows=columns(**{field: FORMS[form](TEXTS)}))["out"]
    assert rows.text(field).tolist() == TEXTS
    assert rows["id"].tolist() == list(range(len(TEXTS)))


@pytest.mark.parametrize("field", ["key", "note"])
@pytest.mark.parametrize(("column", "message"), [
    (np.array(["a", "\ud800"] * 4), "expected UTF-8, got "), (np.array([b"a", b"\xff"] * 4), "expected UTF-8, got "),
    (np.array(["a", 1] * 4, dtype=object), "expected a text, got 1"),
    (np.array(["a", ["b"]] * 4, dtype=object), "expected a text, got .'b'."),
    (dfc.Symbols(np.array([0, -1] * 4), ["a"]), "expected codes from 0 to 0, got -1 to 0"),
    (dfc.Symbols(np.array([0, 255] * 4, dtype="u1"), ["a"]), "expected codes from 0 to 0, got 0 to 255"),
    (dfc.Symbols(np.array([0, 0] * 4), ["\ud800"]), "expected UTF-8, got "),
    (dfc.Symbols(np.array([0.5, 0] * 4), ["a"]), "expected codes that are integers, got float64"),
    (np.array([["a"]] * 8), "got <U1 of 2 dimensions"),
    (dfc.Symbols(np.array([[0, 1]] * 8), ["a", "b"]), "expected codes and categories of one dimension, got 2"),
    (dfc.Symbols(np.array([0] * 8), np.array([["a", "b"]])), "expected codes and categories of one dimension, got 2"),
])
def test_strings_that_do_not_fit(program, field, column, message):
    with pytest.raises(dfc.BadData, match=f"field `{field}`: .*{message}"):
        program.run(rows=columns(**{field: column}))


def test_a_text_that_is_too_long(program):
    for form in FORMS.values():
        with pytest.raises(dfc.BadData, match="field `note`: expected at most 9 bytes of UTF-8, got 10 bytes"):
            program.run(rows=columns(note=form([*TEXTS[:-1], "日本語!"])))


def peak_of(call) -> int:
    tracemalloc.start()
    try:
        call()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("form", ["U", "S", "objects", "StringDType", "backwards", "codes"])
def test_strings_are_copied_once(program, form):
    """Nothing as large as a column is made beside the records."""
    given = columns(COUNT)
    given |= {"key": FORMS[form](given["key"]), "note": FORMS[form](given["note"])}
    intake = program._intakes["rows"]
    records = intake.records(given).nbytes
    assert records <= peak_of(lambda: intake.records(given)) < records + COUNT


def test_codes_come_out_in_one_copy(program):
    rows = program.run(rows=columns(COUNT))["out"]
    codes, categories = rows.symbols("key")
    assert categories[codes].tolist() == columns(COUNT)["key"].tolist()
    assert categories.tolist() == list(dict.fromkeys(TEXTS))
    assert codes.nbytes <= peak_of(lambda: rows.symbols("key")) < codes.nbytes + COUNT


# --- arrow --------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def pa():
    return pytest.importorskip("pyarrow")


def arrow_forms(pa) -> dict:
    plain = pa.array(TEXTS)
    forms = {"string": plain, "large": plain.cast(pa.large_string()), "view": plain.cast(pa.string_view()),
             "binary": plain.cast(pa.binary()), "dictionary": plain.dictionary_encode(),
             "dictionary of large": plain.cast(pa.large_string()).dictionary_encode()}
    return forms | {f"slice of {name}": pa.concat_arrays([column[5:], column])[3:] for name, column in forms.items()
                    if not name.startswith("dictionary of")}


def test_every_form_of_arrow_strings(program, pa):
    numbers = {name: pa.array(column) for name, column in columns().items()
               if name not in ("key", "note", "xs", "good")}
    xs = pa.FixedSizeListArray.from_arrays(pa.array(np.arange(16, dtype="i2")), 2)
    good = pa.concat_arrays([pa.array([True] * 5), pa.array(columns()["good"])])[5:]
    for name, column in arrow_forms(pa).items():
        table = pa.table({**numbers, "key": column, "note": column, "good": good, "xs": xs})
        rows = program.run(rows=table)["out"]
        assert (rows.text("key").tolist(), rows.text("note").tolist()) == (TEXTS, TEXTS), name
        assert rows["good"].tolist() == columns()["good"].tolist()
    with pytest.raises(dfc.BadData, match="field `note`: expected UTF-8, got b'.xff'"):
        at = table.column_names.index("note")
        program.run(rows=table.set_column(at, "note", pa.array([b"\xff"] * 8, pa.binary())))


def test_a_table_goes_through_unchanged(program, pa):
    table = program.run(rows=columns(COUNT), arrow=True)["out"]
    assert table.column_names == ["id", "key", "note", "good", "at", "w", "xs"]
    assert pa.types.is_dictionary(table.schema.field("key").type) and table.schema.field("note").type == pa.string()
    table.validate(full=True)
    assert program.run(rows=table, arrow=True)["out"].equals(table)
    assert table["note"].to_pylist() == columns(COUNT)["note"].tolist()
    assert program.run(rows=columns(0), arrow=True)["out"].num_rows == 0


def test_arrow_is_copied_once(program, pa):
    table = program.run(rows=columns(COUNT), arrow=True)["out"].combine_chunks()
    (batch,), intake = table.to_batches(), program._intakes["rows"]
    from dfc.compiler.embed.arrow import batches

    records = intake.records(next(batches(batch))).nbytes
    before = pa.default_memory_pool().bytes_allocated()
    assert peak_of(lambda: intake.records(next(batches(batch)))) < records + COUNT
    assert pa.default_memory_pool().bytes_allocated() == before
    rows = program.run(rows=batch)["out"]
    made = rows.to_arrow()
    assert peak_of(rows.to_arrow) + pa.default_memory_pool().bytes_allocated() < made.nbytes + COUNT + before


def test_batches_of_one_table_share_the_table_of_symbols(program, pa):
    table = program.run(rows=columns(COUNT), arrow=True)["out"].combine_chunks()
    parts = table.to_batches(max_chunksize=1000)
    with program.open() as stream:
        stream.push(rows=parts[0])
        first = program._intakes["rows"]._tables["key"][1]
        stream.push(rows=parts[1])
        assert program._intakes["rows"]._tables["key"][1] is first
        assert stream.drain()["out"].text("key").tolist() == columns(2000)["key"].tolist()
