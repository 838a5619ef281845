"""The folders have an order, and a command brings in only what it needs."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
HEAVY = ("lark", "networkx", "jinja2", "numpy", "cffi", "pyspark")

# A folder and what it must not import. The order of the house: dsl, runtime_c, stdlib, compiler.
FORBIDDEN = (
    ("dsl", ("dfc.compiler", "dfc.runtime_c", "dfc.stdlib", "networkx", "numpy", "jinja2", "cffi")),
    ("runtime_c", ("dfc",)),
    ("stdlib", ("dfc",)),
    ("compiler/artifacts", tuple(f"dfc.compiler.{part}" for part in (
        "build", "cli", "codegen", "commands", "failure", "graph", "interpret", "patterns", "pipeline", "select",
        "simulate", "spark"))),
    ("compiler/interpret", ("dfc.compiler.codegen", "dfc.compiler.patterns", "dfc.compiler.select", "dfc.runtime_c")),
    ("compiler/graph", ("dfc.compiler.codegen", "dfc.compiler.build", "dfc.compiler.interpret")),
    ("compiler/patterns", tuple(f"dfc.compiler.{part}" for part in (
        "build", "calibrate", "codegen", "commands", "interpret", "select", "simulate")) + ("networkx", "numpy")),
    ("compiler/select", tuple(f"dfc.compiler.{part}" for part in (
        "build", "calibrate", "codegen", "commands", "interpret", "simulate")) + ("numpy",)),
    ("compiler/simulate", tuple(f"dfc.compiler.{part}" for part in (  # of what is built, the controllers only
        "build.delivery", "build.embeddable", "build.library", "build.program", "calibrate", "codegen", "commands",
        "interpret"))),
    ("compiler/optimize", tuple(f"dfc.compiler.{part}" for part in (
        "build.delivery", "build.embeddable", "build.library", "build.program", "calibrate", "codegen", "commands",
        "interpret", "live", "spark"))),
    ("compiler/report", tuple(f"dfc.compiler.{part}" for part in (
        "build", "codegen", "commands", "graph", "interpret", "live", "patterns", "select", "simulate")) + ("numpy",)),
    ("compiler/live", tuple(f"dfc.compiler.{part}" for part in (
        "build", "codegen", "commands", "graph", "interpret", "patterns", "select", "simulate")) + ("numpy",)),
    ("compiler/generate", tuple(f"dfc.compiler.{part}" for part in (
        "build", "codegen", "commands", "graph", "patterns", "pipeline", "select", "simulate"))),
    ("compiler/spark", tuple(f"dfc.compiler.{part}" for part in ("commands", "live", "patterns"))),
    ("compiler/build", ("dfc.compiler.codegen", "dfc.compiler.graph", "dfc.compiler.commands")),
)


def python_files(folder: str) -> list[Path]:
    return sorted((ROOT / folder).rglob("*.py"))


def imported(path: Path) -> Iterator[str]:
    """Full names of all imports of a file, also of those inside functions; relative ones are resolved."""
    package = ("dfc", *path.relative_to(ROOT).with_suffix("").parts)
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = ".".join([*package[:-node.level], *filter(None, [node.module])]) if node.level else node.module
            yield from (f"{base}.{alias.name}" for alias in node.names)


def is_inside(name: str, package: str) -> bool:
    return name == package or name.startswith(package + ".")


@pytest.mark.parametrize(("folder", "forbidden"), FORBIDDEN, ids=[folder for folder, _ in FORBIDDEN])
def test_a_folder_uses_only_what_stands_before_it(folder, forbidden):
    wrong = [f"{path.relative_to(ROOT)} imports {name}" for path in python_files(folder) for name in imported(path)
             if any(is_inside(name, package) for package in forbidden)]
    assert not wrong, "\n".join(wrong)


def test_only_the_spark_folder_imports_pyspark():
    roots = ("dsl", "compiler", "stdlib", "runtime_c")
    importing = [path.relative_to(ROOT) for root in roots for path in python_files(root)
                 if any(is_inside(name, "pyspark") for name in imported(path))]
    assert not [str(path) for path in importing if path.parts[:2] != ("compiler", "spark")]


def test_the_package_has_one_name():
    """`compiler/api` is `dfc`; under a second name it would be a second module."""
    wrong = [str(path.relative_to(ROOT)) for root in ("dsl", "compiler", "tests") for path in python_files(root)
             if any(is_inside(name, "dfc.compiler.api") for name in imported(path))]
    assert not wrong, wrong


def test_every_folder_of_python_is_a_package():
    """An installed dfc holds packages only: a folder without __init__.py would be left out of the wheel."""
    folders = {path.parent for root in ("dsl", "compiler") for path in python_files(root)}
    assert not [str(folder.relative_to(ROOT)) for folder in folders if not (folder / "__init__.py").exists()]


def loaded_by(*words: str) -> set[str]:
    """The heavy packages that a command has in memory when it ends."""
    code = ("import sys; from dfc.compiler.cli import main\n"
            "try: code = main(sys.argv[1:])\n"
            "except SystemExit as end: code = end.code\n"
            f"print('loaded', code, *[name for name in {HEAVY!r} if name in sys.modules])")
    answer = subprocess.run([sys.executable, "-c", code, *words], capture_output=True, text=True, cwd=ROOT)
    last = answer.stdout.splitlines()[-1].split()
    assert last[:2] == ["loaded", "0"], answer.stderr
    return set(last[2:])


@pytest.mark.parametrize("words", [("--help",), ("--version",), ("run", "--help"), ("version",), ("error",)],
                         ids=" ".join)
def test_help_loads_nothing(words):
    assert loaded_by(*words) == set()


def test_watching_a_program_loads_nothing(tmp_path):
    (tmp_path / "a.jsonl").write_text('{"schema": 1, "kind": "start", "uptime": 0}\n')
    assert loaded_by("report", str(tmp_path)) == set()


def test_importing_dfc_loads_nothing():
    code = f"import sys, dfc; print(*[name for name in {HEAVY!r} if name in sys.modules])"
    assert subprocess.check_output([sys.executable, "-c", code], text=True).split() == []


def test_check_loads_the_parser_only():
    program = next((ROOT / "tests" / "conformance" / "cases").glob("*/program.dfl"))
    assert loaded_by("check", str(program)) <= {"lark"}
