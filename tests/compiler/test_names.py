"""Names of a program that meet names derived from others: the generated C compiles whatever they are.

A failure prints the seed: `DFC_TEST_SEED=… pytest tests/compiler/test_names.py` makes the same programs again.
"""

from __future__ import annotations

import os
import random
import subprocess

import pytest
from dfc.compiler import pipeline
from dfc.compiler.build.folder import runtime_folder
from dfc.compiler.build.toolchain import find_toolchain, flags
from dfc.compiler.emit import emit

SEED = int(os.environ.get("DFC_TEST_SEED") or random.SystemRandom().randrange(1 << 32))
ENDS = ("", "_", "_window", "_state", "_outputs", "_key", "_group", "_kept", "_pane", "_partial", "_tuple", "_1",
        "_0_1", "_push", "_emit", "_result", "_options", "_instance", "_create", "_push_a", "_take", "_columns",
        "_session", "_H")
STAGES = (
    "by k |> window count 3 |> aggregate {{ k, x: median(x) }} -> {record}",
    "map {{ k, x: {function}(x) }} -> {record}",
    "by k |> window time 3ms slide 2ms |> aggregate {{ k, x: max(x) }} -> {record}", "map {{ k, x }}",
    "by k |> window session gap 3ms |> aggregate {{ k, x: avg(x) }} |> map {{ k, x }} -> {record}",
    "by k |> scan {{ k, x: {aggregate}(x) }} -> {record}",
    "filter x > 0.0 |> map {{ k, x: x + 1.0 }} |> filter x > 1.0",
    "by k |> update {{ {part}: f64 = 0.0 }} with {{ {part}: {part} + x }} emit {{ k, x: {part} }}",
    'by k |> update {{ {part}: f64 = 0.0 }} with c("own.c", "{c}") emit {{ k, x: {part} }}',
    "by k |> window delta 0.5 of x |> aggregate {{ k, x: last(x) }} -> {record}",
    "by k |> window time 4ms every tuple |> aggregate {{ k, x: ewma(x, 0.5) }}",
)
OPERATORS = (
    'operator {name} on {before} by k window count 2 -> {record} {{ alternate {c} = c("own.c", "{c}") }}',
    'operator {name} on {before} -> {record} {{ alternate {c} = c("own.c", "{c}") }}',
    'operator {name} on {before} by k window time 5ms -> {record} {{ alternate a = {{ k, x: sum(x) }} }}',
)
PORTS = 'operator {name} on {before} -> {{ {a}: {record}, {b}: {record} }} {{ alternate only = c("own.c", "{c}") }}'


class Words:
    """Words that begin like each other and end like parts of generated names; each is given once in its set."""

    def __init__(self, rng: random.Random):
        self.rng, self.taken = rng, {}
        self.stems = rng.sample(["win", "a", "s", "app", "R", "x", "int", "_u", "end", "on"], 2)
        self.ends = ["", *rng.sample(ENDS, 5)]

    def new(self, which: str) -> str:
        while True:
            word = self.rng.choice(self.stems) + self.rng.choice(self.ends)
            if self.rng.random() < 0.2:
                self.stems.append(word)
            if word not in self.taken.setdefault(which, set()) and word not in ("k", "x", "int"):
                self.taken[which].add(word)
                return word


def program(rng: random.Random) -> str:
    words = Words(rng)
    records = [words.new("record") for _ in range(3)]
    function, aggregate = words.new("function"), words.new("function")
    lines = [f"app {words.new('app')}", *(f"record {name} {{ k: symbol, x: f64 }}" for name in records),
             f"record T{records[0]} {{ t: timestamp<ms>, k: symbol, x: f64 }}",
             f"fn {function}(x: f64) -> f64 = x + 1.0",
             f"aggregate {aggregate}(x: f64) -> f64 associative commutative {{ state {{ total: f64 }} "
             "lift { total: x } combine { total: left.total + right.total } lower total }"]
    source = words.new("step")
    lines.append(f'source {source}: T{records[0]} = csv("in.csv") event time t late to {words.new("step")}')
    before = source
    for _ in range(rng.randrange(3, 8)):
        name = words.new("step")
        given = {"name": name, "before": before, "record": rng.choice(records), "function": function,
                 "aggregate": aggregate, "part": words.new("part"), "c": f"own_{words.new('c')}"}
        kind = rng.random()
        if kind < 0.6:
            lines.append(f"stream {name} = {before} |> " + rng.choice(STAGES).format(**given))
            before = name
        elif kind < 0.9:
            lines.append(rng.choice(OPERATORS).format(**given))
            before = name
        else:
            port = words.new(f"ports of {name}")
            lines.append(PORTS.format(**given, a=port, b=words.new(f"ports of {name}")))
            before = f"{name}.{port}"
        lines.append(f'sink {words.new("step")} = {before} to csv("{name}.csv")')
    return "\n".join(lines) + "\n"


def test_a_view_beside_a_record_of_its_name(tmp_path):
    (tmp_path / "own.c").write_text("")
    text = ("app app\nrecord win_window { x: f64 }\nrecord win_state { x: f64 }\nrecord win_outputs { x: f64 }\n"
            'source q: win_window = csv("in.csv")\n'
            'operator win on q window count 2 -> win_state { alternate only = c("own.c", "f") }\n'
            'operator win_group on q window count 2 -> win_outputs { alternate only = c("own.c", "g") }\n'
            'sink o = win to csv("o.csv")\nsink p = win_group to csv("p.csv")\n')
    header = dict(emit(text, str(tmp_path / "p.dfl"), {}, ("c",)))["app.h"]
    assert "bool f(const app_win_window_ *window, app_win_state *result);" in header
    assert "bool g(const app_win_group_window *window, app_win_outputs *result);" in header


@pytest.mark.parametrize("part", range(4))
def test_derived_names_never_meet(part, tmp_path):
    rng = random.Random(SEED + part)
    for number in range(12):
        text, folder = program(rng), tmp_path / str(number)
        folder.mkdir()
        (folder / "own.c").write_text("")
        bundle = pipeline.generate(text, str(folder / "p.dfl"), {}, embed=True)
        for name, content in bundle.files:
            (folder / name).parent.mkdir(exist_ok=True)
            (folder / name).write_text(content)
        command = [*find_toolchain().command, *flags("portable", False), "-Werror", "-fsyntax-only", "-I.",
                   f"-I{runtime_folder() / 'include'}", f"{bundle.app}.c", f"{bundle.app}_embed.c"]
        answer = subprocess.run(command, cwd=folder, capture_output=True, text=True)
        assert answer.returncode == 0, f"DFC_TEST_SEED={SEED}\n{text}\n{answer.stderr[:3000]}"
