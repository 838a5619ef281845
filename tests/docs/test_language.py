"""What the pages say is true: their programs compile, their results come out, their lists are complete."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest
from dfc.compiler import pipeline
from dfc.compiler.check import check_text
from dfc.compiler.graph.runnable import RUNNABLE_CODES
from dfc.dsl.builtins import AGGREGATES, CASTS, SCALAR_FUNCTIONS
from dfc.dsl.diagnostics import Diagnostics, ProgramError
from dfc.dsl.lexer import RESERVED
from dfc.dsl.settings import BLOCKS, CONNECTORS, METRICS, MINIMIZE, PATTERNS, POLICIES, STATISTICS

from tests.docs.blocks import ROOT, Block, Program, blocks, of_kind, prelude, programs

LANGUAGE = "docs/LANGUAGE.md"
PAGES = (LANGUAGE, "README.md", "CONTRIBUTING.md", "docs/ARCHITECTURE.md", "docs/CONNECTORS.md",
         "docs/PATTERNS.md", "docs/CONTROL.md", "docs/TRACES.md")
TEXT = (ROOT / LANGUAGE).read_text(encoding="utf-8")
PROGRAMS = [program for page in PAGES for program in programs(page)]
FRAGMENTS = of_kind(LANGUAGE, "fragment")
KINDS = {(), ("prelude",), ("fragment",), ("wrong",), ("values",), ("in",)}

SINK = '\nsink shown_ = {} to csv("out.csv")\n'
_NAMED = re.compile(r"^(?:stream|operator) (\w+)", re.MULTILINE)


def errors(text: str) -> set[str]:
    """The codes of the errors that checking gives."""
    diagnostics = Diagnostics()
    check_text(text, "program.dfl", diagnostics, {})
    return {item.code for item in diagnostics.items if item.code.startswith("E")}


def with_sink(block: Block) -> str:
    """A fragment as a program: what it declares last goes to a sink, if it has none."""
    named = _NAMED.findall(block.text)
    sink = SINK.format(named[-1]) if named and "\nsink " not in block.text else ""
    return prelude(LANGUAGE) + block.text + sink


# --- programs ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("program", PROGRAMS, ids=str)
def test_program_compiles(program: Program, tmp_path, monkeypatch):
    write_files(tmp_path, program)
    monkeypatch.chdir(tmp_path)
    assert pipeline.generate(program.block.text, "program.dfl", {}).files


@pytest.mark.parametrize("program", [program for program in PROGRAMS if program.outputs], ids=str)
@pytest.mark.parametrize("way", [(), ("--workers", "3"), ("--interpret",)], ids=lambda way: "".join(way) or "native")
def test_program_gives_what_the_page_shows(program: Program, way, tmp_path, dfc):
    write_files(tmp_path, program)
    answer = dfc("run", "program.dfl", *way)
    assert answer.returncode == 0, answer.stderr
    written = {name: answer.stdout if name == "-" else (tmp_path / name).read_text() for name in program.outputs}
    assert written == program.outputs


def write_files(folder: Path, program: Program) -> None:
    for name, text in {**program.inputs, "program.dfl": program.block.text}.items():
        (folder / name).write_text(text)


# --- fragments --------------------------------------------------------------------------------------


@pytest.mark.parametrize("block", FRAGMENTS, ids=str)
def test_fragment(block: Block):
    text = with_sink(block)
    assert errors(text) == set()
    if "stops" not in block.words:
        assert pipeline.generate(text, "program.dfl", {}).files
        return
    with pytest.raises(ProgramError) as stopped:
        pipeline.generate(text, "program.dfl", {})
    assert {item.code for item in stopped.value.diagnostics.items} == {block.code}


@pytest.mark.parametrize("block", of_kind(LANGUAGE, "wrong"), ids=str)
def test_wrong_program(block: Block):
    assert errors(prelude(LANGUAGE) + block.text) == {block.code}


def test_every_block_says_what_it_is():
    odd = [str(block) for page in PAGES for block in blocks(page)
           if block.words[0] == "dfl" and block.words[1:2] not in KINDS]
    assert not odd


# --- values -----------------------------------------------------------------------------------------


def values() -> list[tuple[str, str]]:
    lines = [line for block in of_kind(LANGUAGE, "values") for line in block.text.splitlines() if line.strip()]
    return [tuple(part.strip() for part in line.rsplit("→", 1)) for line in lines]


@pytest.mark.parametrize("way", [(), ("--interpret",)], ids=lambda way: "".join(way) or "native")
def test_expressions_have_the_values_that_the_page_shows(way, tmp_path, dfc):
    """A row a value: the expressions differ in type, so each is a sink of its own."""
    sinks = [f'sink v{i} = one |> map {{ x: {expr} }} to csv("{i}.csv")' for i, (expr, _) in enumerate(values())]
    (tmp_path / "program.dfl").write_text("\n".join(("use std.text", "use std.time", prelude(LANGUAGE), *sinks)))
    for block in blocks(LANGUAGE):
        if block.words == ("csv", "in", "one.csv"):
            (tmp_path / "one.csv").write_text(block.text)
    answer = dfc("run", "program.dfl", *way)
    assert answer.returncode == 0, answer.stderr
    found = [(expr, (tmp_path / f"{i}.csv").read_text().split("\n", 1)[1].rstrip("\n"))
             for i, (expr, _) in enumerate(values())]
    assert found == values()


# --- lists ------------------------------------------------------------------------------------------


def missing(names, form: str = "`{}`") -> list[str]:
    return [name for name in names if form.format(name) not in TEXT]


def test_what_does_not_run_yet_is_complete():
    table = TEXT.split("\n## What does not run yet", 1)[1].split("\n## ", 1)[0]
    assert set(re.findall(r"E08\d\d", table)) == set(RUNNABLE_CODES)


def test_every_function_is_described():
    assert not missing((*SCALAR_FUNCTIONS, *AGGREGATES), "`{}(")
    assert not missing(CASTS)


def test_every_word_of_the_settings_is_described():
    connectors = [name for kind in CONNECTORS.values() for name in (kind.name, *(name for name, _ in kind.settings))]
    control = [name for policy, settings in POLICIES.items() for name in (policy, *settings)]
    patterns = [name for pattern, settings in PATTERNS.items() for name in (pattern, *settings)]
    blocks_ = [name for settings in BLOCKS.values() for name in settings]
    assert not missing(dict.fromkeys((*connectors, *control, *patterns, *blocks_, *METRICS, *STATISTICS, *MINIMIZE)))


def test_reserved_words_are_listed():
    assert not missing(RESERVED)


# --- links ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("page", PAGES)
def test_links_lead_somewhere(page):
    text = (ROOT / page).read_text(encoding="utf-8")
    links = re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", text)
    assert not [link for link in links if not ((ROOT / page).parent / link).exists()]


_ROOTED = re.compile(r"`((?:dsl|compiler|runtime_c|tests|stdlib|examples|docs)/[\w./-]*)`")


@pytest.mark.parametrize("page", [page for page in PAGES if page != LANGUAGE])
def test_files_that_a_page_names_are_there(page):
    named = _ROOTED.findall((ROOT / page).read_text(encoding="utf-8"))
    assert not [name for name in named if not (ROOT / name).exists()]


_DRAWN = re.compile(r"!\[(\w+=[^\]]+)\]\((images/patterns/\w+\.svg)\)")
DRAWN = _DRAWN.findall((ROOT / "docs" / "PATTERNS.md").read_text(encoding="utf-8"))


def test_every_pattern_has_a_picture():
    assert {word.partition("=")[2].partition(":")[0] for word, _ in DRAWN} >= set(PATTERNS) - {"auto"}
    assert {name for _, name in DRAWN} == {f"images/patterns/{path.name}"
                                           for path in (ROOT / "docs" / "images" / "patterns").iterdir()}


@pytest.mark.parametrize(("word", "name"), DRAWN)
def test_the_pictures_of_patterns_are_drawn_by_dfc(word, name, tmp_path, dfc):
    """`DFC_UPDATE_GOLDEN=1` draws them anew."""
    operator = word.partition("=")[0]
    (text,) = [one.block.text for one in programs("docs/PATTERNS.md") if operator in _NAMED.findall(one.block.text)]
    (tmp_path / "app.dfl").write_text(text)
    answer = dfc("graph", "app.dfl", "--cores", "4", "--pattern", word, "-o", "app.svg")
    assert answer.returncode == 0, answer.stderr
    drawn = (tmp_path / "app.svg").read_text()
    if os.environ.get("DFC_UPDATE_GOLDEN"):
        (ROOT / "docs" / name).write_text(drawn)
    assert drawn == (ROOT / "docs" / name).read_text()


def test_the_picture_of_the_readme_is_its_program(tmp_path, dfc):
    """`DFC_UPDATE_GOLDEN=1` draws it anew."""
    picture = ROOT / "docs" / "images" / "candles.svg"
    (tmp_path / "candles.dfl").write_text(programs("README.md")[0].block.text)
    assert dfc("graph", "candles.dfl", "-o", "candles.svg").returncode == 0
    drawn = (tmp_path / "candles.svg").read_text()
    if os.environ.get("DFC_UPDATE_GOLDEN"):
        picture.write_text(drawn)
    assert drawn == picture.read_text()
