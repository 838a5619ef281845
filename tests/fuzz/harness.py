"""Builds the fuzzing harnesses with the address and undefined-behaviour sanitizers, and runs them.

`python -m tests.fuzz.harness [COUNT [SECONDS [SEED]]]` runs all of them: COUNT inputs each, for at most SECONDS each.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

from dfc.compiler.build.folder import runtime_tree
from dfc.compiler.build.program import Job, runtime_library
from dfc.compiler.build.toolchain import CHOSEN_FLAGS, INCLUDES, LINK_FLAGS, NEEDED_FLAGS, find_toolchain

FOLDER = Path(__file__).parent
HARNESSES = sorted(path.stem for path in FOLDER.glob("fuzz_*.c"))
NATIVE = "-march=native"
# Each with the flags it is built with: there is vector code for text in rows.
BUILDS = [(name, ()) for name in HARNESSES] + [("fuzz_csv", (NATIVE,))]
SANITIZED = (*NEEDED_FLAGS, *CHOSEN_FLAGS, "-g", "-O1", "-fno-omit-frame-pointer", "-fsanitize=address,undefined",
             "-fno-sanitize-recover=all", "-DDFRT_INPUT_BYTES=64", "-DDFRT_CSV_BLOCK_BYTES=100")  # so that all are used

# Files that are written a million times stay off the disk where there is a choice.
MEMORY = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None


class Failed(Exception):
    """A harness found something; the text is what it said."""


def build(name: str, folder: Path, flags: tuple[str, ...] = ()) -> Path:
    """The harness as a program in `folder`."""
    tree = runtime_tree()
    helpers = [*FOLDER.glob("*.[ch]"), *(FOLDER.parents[1] / "runtime_c" / "tests").glob("*.h")]
    for file, data in (tree | {path.name: path.read_bytes() for path in helpers}).items():
        (folder / file).parent.mkdir(parents=True, exist_ok=True)
        (folder / file).write_bytes(data)
    job = Job(find_toolchain(), (*SANITIZED, *flags), folder)
    said = job.call(*INCLUDES, f"{name}.c", str(runtime_library(tree, job)), "-o", name, *LINK_FLAGS)
    if "warning" in said:
        raise Failed(said)
    return folder / name


def run(program: Path, count: int, seconds: int, seed: int) -> int:
    """How many inputs were tried. Raises Failed with the way to see the failure again."""
    environment = {**os.environ, "ASAN_OPTIONS": "detect_leaks=1:allocator_may_return_null=1"}
    with tempfile.TemporaryDirectory(prefix="dfc-fuzz-", dir=MEMORY) as folder:
        answer = subprocess.run([program, str(seed), str(count), str(seconds)], cwd=folder, text=True,
                                capture_output=True, env=environment, timeout=seconds + 300, errors="replace")
        if answer.returncode:
            number = (Path(folder) / "progress").read_text().split()[0]
            raise Failed(f"{answer.stderr}\n{program.name} failed (code {answer.returncode}); "
                         f"again: {program.name} {seed} 1 60 {number}")
    return int(answer.stdout)


def main(words: list[str]) -> int:
    count, seconds, seed = [int(word) for word in words] + [1_000_000, 900, 1][len(words):]
    code = 0
    for name, flags in BUILDS:
        with tempfile.TemporaryDirectory(prefix="dfc-fuzz-") as folder:
            try:
                tried = run(build(name, Path(folder), flags), count, seconds, seed)
                early = " (out of time)" if tried < count else ""
                print(f"{' '.join((name, *flags))}: {tried} inputs, nothing found{early}", flush=True)
            except Failed as failure:
                print(f"{name}: {failure}", file=sys.stderr, flush=True)
                code = 1
    return code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
