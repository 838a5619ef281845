"""Arrays of so many elements that C goes over them in loops: every format, read and written, as interpreted."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from dfc.compiler.codegen.program import generate_files
from dfc.compiler.interpret import run as interpret
from dfc.compiler.interpret import write_sinks
from dfc.compiler.pipeline import check, flow, plan
from dfc.dsl.diagnostics import ProgramError

from tests.differential.native import build, run

FIELDS = {"v": "f64[300]", "m": "i16[3][5]", "t": "text<6>[9]", "b": "bool[12]", "few": "u8[2]", "s": "f32[4][3]"}
RECORD = f"record R {{ k: i64, {', '.join(f'{name}: {type_}' for name, type_ in FIELDS.items())}, last: i32 }}\n"
ONE = 'app most\nrecord R {{ v: {} }}\nsource r: R = csv("r.csv")\nsink o = r to csv("o.csv")\n'


def columns() -> list[str]:
    sizes = {name: [int(size.rstrip("]")) for size in type_.split("[")[1:]] for name, type_ in FIELDS.items()}
    names = ["k"]
    for name, dims in sizes.items():
        places = [""]
        for size in dims:
            places = [f"{place}[{i}]" for place in places for i in range(size)]
        names += [name + place for place in places]
    return [*names, "last"]


def value(name: str, rng: random.Random) -> str:
    match name[0]:
        case "v" | "s":
            return repr(rng.choice((0.0, -1.5, 1e300 if name[0] == "v" else 1e30, rng.random())))
        case "t":
            return rng.choice(('""', "a", '"b,c"', "äöü", "sechs6"))
        case "b":
            return rng.choice(("true", "false"))
        case "f":
            return str(rng.randrange(256))
        case "k":
            return str(rng.randrange(3))
    return str(rng.randrange(-32768, 32768))


def table(names: list[str], rows: int, seed: int) -> bytes:
    rng = random.Random(seed)
    lines = [",".join(names)] + [",".join(value(name, rng) for name in names) for _ in range(rows)]
    wrong = [",".join("no" if i == at else value(name, rng) for i, name in enumerate(names)) for at in (150, 305, 330)]
    return ("\n".join(lines + wrong) + "\n").encode()


def compare(text: str, folder: Path, outputs: tuple[str, ...]) -> None:
    program = build(text, folder, 0)
    for layout in (("--workers", "1"), ("--workers", "3", "--layout", "staged")):
        stats = {step["name"]: step for step in run(program, [*layout])["steps"]}
        got = {name: (folder / name).read_bytes() for name in outputs}
        results = interpret(program.typed, folder=folder)
        write_sinks(program.typed, results, folder)
        for name in outputs:
            assert got[name] == (folder / name).read_bytes(), name
        assert {name: stats[name]["malformed"] for name in stats} \
            == {name: counters.malformed for name, counters in results.counters.items()}


def test_csv_in_and_every_format_out_and_in_again(tmp_path: Path) -> None:
    names = columns()
    (tmp_path / "a.csv").write_bytes(table(names, 40, 1))
    (tmp_path / "b.csv").write_bytes(table([*reversed(names)], 40, 2))
    flow = "stream {0}s = {0} |> filter v[299] != -1.5 or m[2][4] > 0 |> map {{ last, v, m, t, b, few, s, k }}\n"
    compare(f'app first\n{RECORD}source a: R = csv("a.csv")\nsource b: R = csv("b.csv")\n{flow.format("a")}'
            f'{flow.format("b")}stream u = as |> union bs\nstream w = u |> by k |> window count 3 '
            "|> aggregate { k, v: last(v), m: first(m), n: count() }\n"
            'sink c = u to csv("c.csv")\nsink j = u to jsonl("j.jsonl")\nsink p = u to binary("p.bin")\n'
            'sink w_out = w to csv("w.csv")\n', tmp_path, ("c.csv", "j.jsonl", "p.bin", "w.csv"))
    again = RECORD.replace("k: i64, ", "last: i32, ").replace(", last: i32 }", ", k: i64 }")
    compare(f'app second\n{again}source j: R = jsonl("j.jsonl")\nsource p: R = binary("p.bin")\n'
            'sink js = j to csv("js.csv")\nsink ps = p to csv("ps.csv")\n', tmp_path, ("js.csv", "ps.csv"))
    assert (tmp_path / "js.csv").read_bytes() == (tmp_path / "ps.csv").read_bytes()
    assert len((tmp_path / "js.csv").read_bytes().splitlines()) > 40


def test_wide_tuples_are_not_taken_by_the_block(tmp_path: Path) -> None:
    """256 of these would be more than the stack."""
    (tmp_path / "w.csv").write_bytes(b"k,t\n" + b"".join(f"{i},{i}\n".encode() for i in range(600)))
    compare('app wide\nrecord W { k: i64, t: text<60000> }\nsource w: W = csv("w.csv")\n'
            "stream s = w |> filter k % 3 != 0 |> map { k, t, e: k }\n"
            "stream c = s |> window count 2 |> aggregate { n: count(), l: last(t) }\n"
            'sink o = s to csv("o.csv")\nsink c_out = c to csv("c.csv")\n', tmp_path, ("o.csv", "c.csv"))


def test_the_most_elements_make_c_of_a_line_each() -> None:
    program = check(ONE.format("f64[2][4096]"), "m.dfl", {})
    text = dict(generate_files(flow(program), plan(flow(program)), "0"))["most.c"]
    assert text.count("\n") < 8192 + 1000
    assert "r->v[i / 4096][i % 4096]" in text


@pytest.mark.parametrize("type_", ["f64[8193]", "f64[91][91]", "f64[3][0]", "text<200>[6000]"])
def test_larger_ones_are_refused(type_: str) -> None:
    with pytest.raises(ProgramError) as wrong:
        check(ONE.format(type_), "m.dfl", {})
    assert [one.code for one in wrong.value.diagnostics.items] == ["E0216"]
