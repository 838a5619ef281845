"""What is shipped to executors stands alone, and refuses a library that can't run there. No session."""

from __future__ import annotations

import ast
import struct
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("pyarrow")
from dfc.compiler.failure import Failure, Usage  # noqa: E402
from dfc.compiler.spark import engine, executor  # noqa: E402
from dfc.compiler.spark.ranges import SourceInput, files_of, measured, ranges_of  # noqa: E402
from dfc.compiler.spark.words import Words, read_words  # noqa: E402


def test_the_module_needs_nothing_of_dfc():
    found = set()
    for node in ast.walk(ast.parse(Path(executor.__file__).read_text())):
        if isinstance(node, ast.Import):
            found |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0
            found.add(node.module.partition(".")[0])
    assert found == {"__future__", "collections", "ctypes", "json", "numpy", "pyarrow", "pyspark", "struct"}


class Frame:
    """Keeps the functions that would travel."""

    def __init__(self):
        self.functions = []

    def mapInArrow(self, function, schema):
        self.functions.append(function)
        return self

    def repartition(self, *words):
        return self

    sortWithinPartitions = repartition


def test_functions_travel_by_value(tmp_path):
    """They are unpickled where dfc can't be imported, and then ask for the shipped module."""
    cloudpickle = pytest.importorskip("pyspark.cloudpickle")
    frame, run = Frame(), engine._Run(None, {"library": "x"}, [], None, None, 1)
    run._parts = lambda ranges: frame
    run._by_key([], 2)
    run._mapped([], "run_range", "")
    assert len(frame.functions) == 3
    (tmp_path / "functions").write_bytes(cloudpickle.dumps(frame.functions))
    (tmp_path / "dfc_executor.py").write_text("def run_rows(job, batches): return [job['library'], *batches]\n")
    code = ("import pickle, sys; sys.modules['dfc'] = None\n"
            "functions = pickle.load(open('functions', 'rb')); print(functions[1]([1]))")
    answer = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True)
    assert (answer.stdout, answer.stderr) == ("['x', 1]\n", "")


# --- the wrong machine ---------------------------------------------------------------------------------


def elf(path: Path, machine: int, bits: int = 2) -> str:
    path.write_bytes(b"\x7fELF" + bytes([bits, 1]) + bytes(12) + struct.pack("<H", machine))
    return str(path)


def test_another_architecture_is_refused(tmp_path):
    here = elf(tmp_path / "here", 62)
    executor.require_fitting(elf(tmp_path / "a.so", 62), [], here)
    with pytest.raises(executor.TaskFailed, match=r"built for aarch64 \(64 bit\), but an executor is x86-64 "):
        executor.require_fitting(elf(tmp_path / "b.so", 183), [], here)
    with pytest.raises(executor.TaskFailed, match="is no library"):
        (tmp_path / "c.so").write_bytes(b"MZ")
        executor.require_fitting(str(tmp_path / "c.so"), [], here)


def test_another_processor_is_refused(tmp_path):
    here = elf(tmp_path / "here", 62)
    (tmp_path / "cpuinfo").write_text("flags\t: sse4_2 avx avx2\n")
    executor.require_fitting(here, ["avx", "avx2"], here, str(tmp_path / "cpuinfo"))
    with pytest.raises(executor.TaskFailed, match="with avx512f, which an executor's does not .*--target portable"):
        executor.require_fitting(here, ["avx", "avx512f"], here, str(tmp_path / "cpuinfo"))


# --- ranges --------------------------------------------------------------------------------------------


def source(*files: Path, kind: str = "csv") -> SourceInput:
    return SourceInput("s", 0, tuple(f"{kind}:{file}" for file in files), True, 0, ())


def test_ranges_begin_behind_newlines(tmp_path):
    data = b"\xef\xbb\xbf\n\r\na,b\n" + b"".join(b"%d,x\n" % number for number in range(100))
    (tmp_path / "a.csv").write_bytes(data)
    found = ranges_of(source(tmp_path / "a.csv"), 50)
    assert [one.begin for one in found] == [10, *(one.end for one in found[:-1])] and found[-1].end == len(data)
    assert all(data[one.begin - 1:one.begin] == b"\n" and one.header == 10 and one.header_lines == 3 for one in found)
    assert len(found) == 9 and b"".join(data[one.begin:one.end] for one in found) == data[10:]


@pytest.mark.parametrize("data", [b'"a",b\n1,2\n', b"a,b", b"", b"\n\n"])
def test_headers_that_need_a_closer_look_keep_the_file_whole(tmp_path, data):
    (tmp_path / "a.csv").write_bytes(data)
    assert [one.whole for one in ranges_of(source(tmp_path / "a.csv"), 1)] == [True]


def test_a_line_that_begins_with_a_mark_keeps_it(tmp_path):
    data = b"one\n\xef\xbb\xbftwo\nthree\n"
    (tmp_path / "a.txt").write_bytes(data)
    found = ranges_of(source(tmp_path / "a.txt", kind="lines"), 2)
    assert [data[one.begin:one.end] for one in found] == [b"one\n\xef\xbb\xbftwo\n", b"three\n"]


def test_progress_is_a_prefix(tmp_path):
    """By hand: three ranges whose rows reach 30, 20 and 50."""
    (tmp_path / "a.csv").write_bytes(b"t\n" + b"1\n" * 6)
    facts = [{"after": [2, 0, 0, 0], "highest": high, "lowest": low, "delay": delay, "malformed": 0, "lines": 2,
              "quotes": False, "reports": []} for high, low, delay in ((30, 10, 0), (20, 5, 3), (50, 40, 0))]
    found = measured(source(tmp_path / "a.csv"), lambda ranges: facts, 3)
    none = -(1 << 63)
    assert [one.progress for one in found] == [(0, none, 0, none), (2, 30, 0, 30), (4, 30, 25, 30)]
    assert [one.line(4) for one in found] == [4, 6, 8]


# --- words ---------------------------------------------------------------------------------------------


def test_words():
    found = read_words("--source a=csv:x --sink=b=discard: --alternate o=fast --report 3 --max-row=9".split())
    assert found == Words({"a": "csv:x"}, {"b": "discard:"}, [("o", "fast")], 3, 9)
    for wrong in (["--stats"], ["--source"], ["--source", "a"], ["--report", "x"], ["y"]):
        with pytest.raises(Usage):
            read_words(wrong)


def test_without_java_one_line_and_3(tmp_path, dfc, monkeypatch):
    pytest.importorskip("pyspark")
    (tmp_path / "p.dfl").write_text('record R { a: i64 }\nsource s: R = csv("i.csv")\nsink out = s to csv("o.csv")\n')
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    answer = dfc("run", "--engine", "spark", "p.dfl")
    assert answer.returncode == 3 and answer.stderr.count("\n") == 1 and "Java 17" in answer.stderr


def test_a_missing_folder(tmp_path):
    with pytest.raises(Failure, match="cannot open '.*nothing': No such file"):
        files_of("s", f"csv:{tmp_path}/nothing")
    with pytest.raises(Usage, match="generates without end"):
        files_of("s", "generate:keys=5")


def test_an_interruption_shows_behind_what_it_broke():
    try:
        try:
            raise KeyboardInterrupt
        finally:
            raise OSError("the connection is cut")
    except OSError as error:
        assert engine.was_interrupted(error)
    assert not engine.was_interrupted(OSError()) and not engine.was_interrupted(None)
