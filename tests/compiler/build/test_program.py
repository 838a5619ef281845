"""From a bundle made by hand to a program: what is written, what is kept, what the C compiler's errors become."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest
from dfc.compiler.artifacts.bundle import Bundle
from dfc.compiler.build import Order, cache, compile_program, deliver, toolchain
from dfc.compiler.build import folder as output_folder
from dfc.compiler.build.depfile import input_files
from dfc.compiler.failure import Missing, Usage, Wrong
from dfc.dsl.diagnostics import Diagnostics, ProgramError

MAIN = '#include <stdio.h>\n#include "hello.h"\nint main(void) { puts(WORD); return 0; }\n'


@pytest.fixture(autouse=True)
def small_runtime(tmp_path, monkeypatch):
    """Two files stand for the runtime: these tests are about building, and should not wait for it."""
    runtime = tmp_path / "runtime"
    files = {"include/dfrt/status.h": "#define DFRT_ABI_VERSION 7\n", "src/status.c": "int dfrt_status_word = 1;\n"}
    for name, text in files.items():
        (runtime / name).parent.mkdir(parents=True, exist_ok=True)
        (runtime / name).write_text(text)
    monkeypatch.setattr(output_folder, "runtime_folder", lambda: runtime)


def hello(folder: Path, main: str = MAIN, user: dict[str, str] | None = None) -> Bundle:
    (folder / "hello.dfl").write_text('app hello\nsink x = y |> map { a: 1 / b }\n// c("fit.c", "fit")\n')
    for name, text in (user or {}).items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    sources = tuple(str(folder / name) for name in user or {} if name.endswith(".c"))
    files = (("hello.c", main), ("hello.h", '#define WORD "hello"\n'), ("hello.control.json", "{}\n"))
    return Bundle("hello", files, sources, (str(folder / "hello.dfl"),), (("n", "3"),))


def failure(bundle: Bundle) -> Diagnostics:
    with pytest.raises(ProgramError) as raised:
        compile_program(bundle, "portable")
    return raised.value.diagnostics


def snapshot(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_the_program_runs(tmp_path):
    program = compile_program(hello(tmp_path), "native")
    assert program.name == "hello"
    assert subprocess.check_output([program], text=True) == "hello\n"


def test_the_same_bundle_is_built_once(tmp_path):
    first = compile_program(hello(tmp_path), "portable")
    time = first.stat().st_mtime_ns
    assert compile_program(hello(tmp_path), "portable") == first
    assert first.stat().st_mtime_ns == time
    assert compile_program(hello(tmp_path, MAIN + "\n"), "portable") != first


def test_output_is_deterministic_and_untouched_when_equal(tmp_path):
    bundle, folders = hello(tmp_path), (tmp_path / "one", tmp_path / "two words")
    for folder in folders:
        deliver(bundle, Order(), folder)
    one, two = (snapshot(folder) for folder in folders)
    assert one.pop("hello.d") != two.pop("hello.d")
    assert one == two
    before = {path: path.stat().st_mtime_ns for path in folders[0].rglob("*")}
    deliver(bundle, Order(), folders[0])
    assert {path: path.stat().st_mtime_ns for path in folders[0].rglob("*")} == before


def test_no_path_of_this_machine_in_the_output(tmp_path):
    fit = "#include <assert.h>\nint fit(int x);\nint fit(int x) { assert(x); return x; }\n"
    bundle = hello(tmp_path, user={"fit.c": fit})
    deliver(bundle, Order(), tmp_path / "out")
    for name, data in snapshot(tmp_path / "out").items():
        assert name == "hello.d" or str(tmp_path).encode() not in data, name
        assert b"dfc-build-" not in data, name


def test_make_alone_builds_the_output_folder(tmp_path):
    bundle = hello(tmp_path, user={"fit.c": '#include "deep/fit.h"\nint fit(void) { return FIT; }\n',
                                   "deep/fit.h": "#define FIT 1\nint fit(void);\n"})
    deliver(bundle, Order(), tmp_path / "out")
    made = subprocess.run(["make", "-C", tmp_path / "out", "-j2"], capture_output=True, text=True)
    assert (made.returncode, "warning" in made.stderr) == (0, False), made.stderr
    assert subprocess.check_output([tmp_path / "out" / "hello"], text=True) == "hello\n"
    assert (tmp_path / "out" / "user" / "deep" / "fit.h").exists()


def test_manifest_says_what_went_in_and_out(tmp_path):
    bundle = hello(tmp_path, user={"fit.c": "int fit;\n"})
    deliver(bundle, Order(), tmp_path / "out")
    manifest = json.loads((tmp_path / "out" / "manifest.json").read_text())
    assert (manifest["app"], manifest["target"], manifest["params"]) == ("hello", "portable", {"n": "3"})
    assert manifest["abi"] == 7
    assert set(manifest["inputs"]) == {"hello.dfl", "fit.c"}
    assert {"hello.c", "hello.h", "user/fit.c", "dfrt/include/dfrt/status.h"} <= set(manifest["outputs"])


@pytest.mark.parametrize("name", ["a #1 $x", "a:b", "a: b"])
def test_depfile_is_read_by_make(tmp_path, monkeypatch, name):
    folder = tmp_path / name
    folder.mkdir()
    monkeypatch.chdir(tmp_path)
    bundle = hello(folder)
    deliver(bundle, Order(), Path("out"))
    (tmp_path / "Makefile").write_text("include out/hello.d\nout/hello:\n\t@echo rebuilding\n")
    os.utime(tmp_path / "out" / "hello")
    assert "rebuilding" not in subprocess.check_output(["make"], cwd=tmp_path, text=True)
    os.utime(folder / "hello.dfl", (2**31, 2**31))
    assert "rebuilding" in subprocess.check_output(["make"], cwd=tmp_path, text=True)


def test_depfile_in_a_folder_whose_name_has_two_lines(tmp_path, monkeypatch):
    """make can't write such a name, but files below the current folder need none."""
    folder = tmp_path / "two\nlines"
    folder.mkdir()
    monkeypatch.chdir(folder)
    names = input_files(hello(folder, user={"fit.c": "int fit;\n", "fit.h": "\n"}))
    assert names == ["hello.dfl", "fit.c"]


def test_error_in_the_users_c_is_shown_there(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (item,) = failure(hello(tmp_path, user={"fit.c": "int fit(void) {\n\treturn missing_name;\n}\n"})).items
    assert (item.code, item.span.file, item.span.line, item.span.column) == ("E0901", "fit.c", 2, 9)
    assert "missing_name" in item.message
    assert item.span.end_column == 9 + len("missing_name")


def test_error_behind_a_line_directive_is_shown_in_the_program(tmp_path):
    main = '#line 2 "hello.dfl"\nint main(void) { return undeclared; }\n'
    (item,) = failure(hello(tmp_path, main)).items
    assert (item.code, item.span.line, Path(item.span.file).name) == ("E0901", 2, "hello.dfl")


def test_all_errors_are_reported_in_one_run(tmp_path):
    bundle = hello(tmp_path, user={"a.c": "int a = x;\n", "b.c": "int b = y;\nint c = z;\n"})
    assert len(failure(bundle).items) == 3


def test_missing_function_is_shown_where_it_is_named(tmp_path):
    (item,) = failure(hello(tmp_path, "int fit(void);\nint main(void) { return fit(); }\n")).items
    assert (item.code, item.span.line) == ("E0901", 3)


def test_error_in_generated_c_is_our_own(tmp_path):
    (item,) = failure(hello(tmp_path, "int main(void) { return oops; }\n")).items
    assert item.code == "E0999"
    assert "oops" in item.message


def test_warnings_about_the_users_c_are_handed_on(tmp_path):
    diagnostics = Diagnostics()
    bundle = hello(tmp_path, user={"w.c": "int w(int unused);\nint w(int unused) { return 1; }\n"})
    compile_program(bundle, "portable", diagnostics)
    assert [item.severity for item in diagnostics.items] == ["warning"]


def test_user_file_that_is_gone(tmp_path):
    bundle = hello(tmp_path, user={"fit.c": ""})
    (tmp_path / "fit.c").unlink()
    with pytest.raises(Wrong, match="fit.c"):
        compile_program(bundle, "portable")


def test_no_compiler(monkeypatch):
    monkeypatch.setenv("CC", "no-such-compiler")
    with pytest.raises(Missing, match="no-such-compiler"):
        toolchain.find_toolchain()
    monkeypatch.delenv("CC")
    monkeypatch.setattr(toolchain.shutil, "which", lambda name: None)
    toolchain._identify.cache_clear()
    with pytest.raises(Missing, match="apt-get install gcc"):
        toolchain.find_toolchain()


def test_sanitizers_are_chosen_by_the_environment(monkeypatch):
    monkeypatch.setenv("DFC_SANITIZE", "thread")
    assert "-fsanitize=thread" in toolchain.flags("portable")
    monkeypatch.setenv("DFC_SANITIZE", "everything")
    with pytest.raises(Usage, match="everything"):
        toolchain.flags("portable")


def test_cache_is_bounded(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(cache, "MAX_ENTRIES", 3)
    for number in range(6):
        entry = cache.fetch("test", cache.content_key([str(number)]), lambda out: (out / "file").touch())
        os.utime(entry, (number + 1, number + 1))
    kept = list((tmp_path / "dfc" / "entries").iterdir())
    assert len(kept) == 3 and entry in kept
    assert not list((tmp_path / "dfc").glob("half.*"))


def test_failed_build_leaves_nothing_in_the_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    with pytest.raises(ZeroDivisionError):
        cache.fetch("test", "ab12", lambda out: 1 / 0)
    assert not list((tmp_path / "dfc" / "entries").iterdir()) and not list((tmp_path / "dfc").glob("half.*"))
