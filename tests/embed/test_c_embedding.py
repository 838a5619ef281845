"""A C program that embeds a generated one gets what the binary writes, in the same order."""

from __future__ import annotations

import subprocess
from collections import Counter

import pytest
from dfc.compiler import pipeline

from tests.embed.embedding import HERE, PROGRAMS, dfc_compile, link, values

COUNT = 20_000
SINKS = ("totals", "recent", "gone")


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    folder = tmp_path_factory.mktemp("orders")
    dfc_compile(PROGRAMS / "orders.dfl", folder / "lib", "--emit", "lib,exe")
    link(HERE / "orders_main.c", folder / "static", folder / "lib")
    link(HERE / "orders_main.c", folder / "shared", folder / "lib", shared=True)
    return folder


def embedded(program, folder, *words) -> tuple[str, dict[str, list]]:
    answer = subprocess.run([program, str(COUNT), *words], cwd=folder, capture_output=True, text=True, timeout=300)
    assert answer.returncode == 0, answer.stderr
    return answer.stdout, {sink: values((folder / f"{sink}.embedded").read_text()) for sink in SINKS}


def binary(built, folder, *words) -> dict[str, list]:
    subprocess.run([built / "lib" / "orders", "--quiet", *words], cwd=folder, check=True, timeout=300)
    return {sink: values((folder / f"{sink}.csv").read_text())[1:] for sink in SINKS}


@pytest.mark.parametrize("words", [("1", "callback"), ("3", "callback"), ("1", "collect"), ("3", "collect")],
                         ids=" ".join)
def test_the_same_as_the_binary(built, tmp_path, words):
    counts, results = embedded(built / "static", tmp_path, *words)
    expected = binary(built, tmp_path)
    assert all(len(rows) > 100 for rows in expected.values())
    assert results == expected
    out, late = map(int, counts.split())
    assert (out + late, late) == (COUNT, len(expected["gone"]))


def test_the_shared_library_gives_the_same(built, tmp_path):
    assert embedded(built / "shared", tmp_path, "3", "callback")[1] == binary(built, tmp_path)


def test_an_alternate_belongs_to_the_instance(built, tmp_path):
    _, results = embedded(built / "static", tmp_path, "3", "callback", "rough")
    assert results == binary(built, tmp_path, "--alternate", "lasts=rough")
    assert {row[3] for row in results["recent"]} == {0.0}


def test_the_shared_library_shows_only_its_functions(built):
    names = subprocess.check_output(["nm", "-D", "--defined-only", built / "lib" / "liborders.so"], text=True)
    found = {line.split()[-1] for line in names.splitlines()}
    # A sanitizer adds its own.
    assert {name for name in found if not name.startswith(("__", "_ZN"))} == {
        f"orders_{word}" for word in (
            "create", "push_orders", "part_orders", "end_orders", "merge", "poll", "drain", "destroy", "take",
            "error", "cluster", "set_alternate", "count", "symbol", "symbol_text", "symbols", "columns")}


def test_two_programs_in_one_executable(built, tmp_path):
    """Both have a C function `spread`; each calls its own."""
    pairs = dfc_compile(PROGRAMS / "pairs.dfl", tmp_path / "pairs", "--emit", "lib")
    for order in ((built / "lib", pairs), (pairs, built / "lib")):
        program = link(HERE / "two_main.c", tmp_path / "two", *order)
        answer = subprocess.run([program], capture_output=True, text=True, timeout=300)
        assert answer.returncode == 0, answer.stderr
        assert len(set(answer.stdout.splitlines()[0::2])) == 1 == len(set(answer.stdout.splitlines()[1::2]))
        assert float(answer.stdout.split()[0]) == -2.0 * float(_pairs_kept())
        assert float(answer.stdout.split()[1]) == 20_000 // 5


def tiny(app: str, *sources: str) -> str:
    return f"app {app}\nrecord Q {{ x: i64 }}\n" + "".join(
        f'source {name}: Q = csv("{name}.csv")\nsink o{at} = {name} to discard()\n' for at, name in enumerate(sources))


@pytest.mark.parametrize("sources", [("q", "at_q"), ("at_at_q", "at_q_", "q", "at_q")])
def test_a_source_named_like_a_function_of_another(tmp_path, sources):
    """Tuples of `at_q`, and tuples of `q` with watermarks, have a function each."""
    made = dict(pipeline.generate(tiny("c", *sources), "c.dfl", {}, embed=True).interface.functions)
    assert len(set(made.values())) == len(made)
    assert [made[f"push.{name}"] for name in sources] == [f"c_push_{name}" for name in sources]
    (tmp_path / "c.dfl").write_text(tiny("c", *sources))
    dfc_compile(tmp_path / "c.dfl", tmp_path / "out", "--emit", "lib")


def test_functions_of_two_programs_never_meet():
    """Of an app `x` and one `x_push`, and so on, whatever their sources are called."""
    sources = ("poll", "count", "q", "push_q", "push_poll", "push_push_q", "end_q", "daily_count", "daily", "at_q",
               "push_at_q", "part_q", "symbol_text", "push_symbol")
    apps = ("x", "x_push", "x_end", "x_push_push", "x_push_daily", "x_end_push", "x_symbol", "x_set", "x_push_symbol")
    names = [name for app in apps for name in dict(
        pipeline.generate(tiny(app, *sources), f"{app}.dfl", {}, embed=True).interface.functions).values()]
    assert [name for name, often in Counter(names).items() if often > 1] == []


def _pairs_kept() -> int:
    """Of 5,000 pairs of each name those of A, and those of B that begin below 1000."""
    return 5000 + sum(first < 1000 for first in range(1, 20_000, 4))


def test_c_plus_plus_reads_the_header(built, tmp_path):
    source = tmp_path / "user.cpp"
    source.write_text('#include "orders.h"\nint main() { return orders_symbols() == 0; }\n')
    command = ["c++", "-std=c++17", "-Wall", "-Wextra", "-fsyntax-only", f"-I{built / 'lib' / 'include'}", str(source)]
    answer = subprocess.run(command, capture_output=True, text=True)
    assert (answer.returncode, answer.stderr) == (0, ""), answer.stderr
