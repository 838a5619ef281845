"""CMake and make build a project that embeds a program: once, not again, and again when an input has changed."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

CMAKE = Path(__file__).parents[2] / "cmake"

PROGRAM = """\
app tiny
import "records.dfl"
param factor: int = 2
source numbers: Given = csv("numbers.csv")
stream scaled = numbers |> map { value: value * factor } -> Number
operator twice on scaled -> Number { alternate only value 1.0 = c("twice.c", "twice") }
sink out = twice to csv("-")
"""
RECORDS = "record Given { value: i64 }\nrecord Number { value: i64 }\n"
TWICE = """\
#include "tiny.h"
bool twice(const tiny_Number *tuple, tiny_Number *result)
{
    result->value = 2 * tuple->value;
    return true;
}
"""
MAIN = """\
#include <stdio.h>
#include "tiny.h"
static void print(void *context, const tiny_Number *results, size_t count)
{
    (void)context;
    for (size_t i = 0; i < count; i++) printf("%d\\n", (int)results[i].value);
}
int main(void)
{
    tiny_options options = {.on_out = print};
#ifdef TINY_WORKERS
    options.workers = TINY_WORKERS;
#endif
    tiny_instance *instance;
    dfrt_error error;
    tiny_Given numbers[] = {{.value = 1}, {.value = 2}};
    if (tiny_create(&instance, &options, &error) != DFRT_OK) return 1;
    if (tiny_push_numbers(instance, numbers, 2) != DFRT_OK || tiny_drain(instance) != DFRT_OK) return 1;
    tiny_destroy(instance);
    return 0;
}
"""
LISTS = """\
cmake_minimum_required(VERSION 3.20)
project(tiny C)
include("{cmake}/DfcDataflow.cmake")
dfc_add_dataflow(flow tiny.dfl PARAMS factor=10 WORKERS 2 {shared})
add_executable(main main.c)
target_link_libraries(main PRIVATE flow)
"""
MAKEFILE = """\
DFC_BUILD := out
include {cmake}/dfc.mk
$(eval $(call dfc_add_dataflow,tiny,tiny.dfl,-D factor=10))
main: main.o
\t$(CC) -o $@ main.o $(tiny_LDLIBS)
main.o: main.c $(tiny_LIB)
\t$(CC) $(tiny_CPPFLAGS) -c -o $@ main.c
"""


@pytest.fixture
def project(tmp_path):
    folder = tmp_path / "a project"
    folder.mkdir()
    for name, text in (("tiny.dfl", PROGRAM), ("records.dfl", RECORDS), ("twice.c", TWICE), ("main.c", MAIN)):
        (folder / name).write_text(text)
    dfc = tmp_path / "bin" / "dfc"
    dfc.parent.mkdir()
    dfc.write_text(f'#!/bin/sh\necho "$@" >> "{tmp_path}/calls"\nexec "{sys.executable}" -m dfc.compiler.cli "$@"\n')
    dfc.chmod(0o755)
    return folder


class Project:
    """Builds with one command and counts how often dfc was called."""

    def __init__(self, folder: Path, command: list[object], program: Path):
        self.folder, self.command, self.program = folder, command, program
        self.calls = folder.parent / "calls"

    def build(self) -> int:
        before = self._called()
        answer = subprocess.run([str(word) for word in self.command], cwd=self.folder, capture_output=True, text=True,
                                timeout=300)
        assert answer.returncode == 0, answer.stdout + answer.stderr
        return self._called() - before

    def _called(self) -> int:
        return len(self.calls.read_text().splitlines()) if self.calls.exists() else 0

    def output(self) -> list[int]:
        return [int(line) for line in subprocess.check_output([self.program], cwd=self.folder, text=True).split()]

    def touch(self, name: str) -> None:
        """Newer than everything that was built, without waiting for the clock."""
        newest = max(path.stat().st_mtime_ns for path in self.folder.rglob("*") if path.is_file())
        os.utime(self.folder / name, ns=(newest + 10**6, newest + 10**6))
        self.wait_for_clock(newest)

    def wait_for_clock(self, newest: int) -> None:
        while (self.folder / "main.c").stat() and _now(self.folder) <= newest + 2 * 10**6:
            pass

    def change(self, name: str, old: str, new: str) -> None:
        path = self.folder / name
        path.write_text(path.read_text().replace(old, new))
        self.touch(name)


def _now(folder: Path) -> int:
    """What the file system thinks the time is."""
    probe = folder.parent / "probe"
    probe.write_text("")
    return probe.stat().st_mtime_ns


def with_cmake(project: Path, generator: str, shared: str = "") -> Project:
    (project / "CMakeLists.txt").write_text(LISTS.format(cmake=CMAKE, shared=shared))
    dfc = project.parent / "bin" / "dfc"
    configured = subprocess.run(["cmake", "-S", ".", "-B", "out", "-G", generator, f"-DDFC_EXECUTABLE={dfc}"],
                                cwd=project, capture_output=True, text=True)
    assert configured.returncode == 0, configured.stdout + configured.stderr
    return Project(project, ["cmake", "--build", "out"], project / "out" / "main")


def check(project: Project) -> None:
    assert project.build() == 1 and project.output() == [20, 40]
    assert project.build() == 0
    for name in ("tiny.dfl", "twice.c", "records.dfl"):
        project.touch(name)
        assert project.build() == 1, name
        assert project.build() == 0, name
    project.change("twice.c", "2 *", "3 *")
    assert project.build() == 1 and project.output() == [30, 60]
    project.change("tiny.dfl", "value * factor", "value * factor + 1")
    assert project.build() == 1 and project.output() == [33, 63]
    check_record(project, [33, 63])
    project.touch("main.c")
    assert project.build() == 0


def check_record(project: Project, output: list[int]) -> None:
    """Who includes the header is compiled again in the same build, or it reads fields where they were."""
    project.change("records.dfl", "Given { value", "Given { before: f64, value")
    assert project.build() == 1 and project.output() == output


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("cmake") is None, reason="cmake is not installed")
@pytest.mark.parametrize(("generator", "tool", "shared"), [("Unix Makefiles", "make", ""), ("Ninja", "ninja", ""),
                                                           ("Ninja", "ninja", "SHARED")])
def test_cmake(project, generator, tool, shared):
    if shutil.which(tool) is None:
        pytest.skip(f"{tool} is not installed")
    check(with_cmake(project, generator, shared))


@pytest.mark.skipif(shutil.which("cmake") is None or shutil.which("ninja") is None,
                    reason="cmake or ninja is not installed")
def test_a_record_changes(project):
    """Ninja knows only of the files that the rule names, and starts main.o before it sees a new header."""
    built = with_cmake(project, "Ninja")
    assert built.build() == 1 and built.output() == [20, 40]
    check_record(built, [20, 40])
    assert built.build() == 0


@pytest.mark.skipif(shutil.which("make") is None, reason="make is not installed")
def test_make(project):
    (project / "Makefile").write_text(MAKEFILE.format(cmake=CMAKE))
    dfc = project.parent / "bin" / "dfc"
    check(Project(project, ["make", f"DFC={dfc}"], project / "main"))
