"""Calls the C compiler: runtime objects are built once a machine, a program once for the same content."""

from __future__ import annotations

import os
import re
import subprocess
import tempfile
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path

import dfc
from dfc.compiler.artifacts.bundle import Bundle
from dfc.compiler.failure import Failure, Missing
from dfc.dsl.diagnostics import Diagnostics, ProgramError

from . import cache
from .c_errors import add_c_errors
from .folder import Tree, source_tree
from .toolchain import INCLUDES, LINK_FLAGS, Toolchain, find_toolchain, flags

# A tab is one column, as in our own spans.
_MESSAGES = ("-fdiagnostics-color=never", "-ftabstop=1")


_NO_ROOM = re.compile("No space left on device|File too large|Disk quota exceeded|File size limit exceeded")


class CompilerFailed(Exception):
    """The compiler refused; the text is what it said."""


@dataclass(frozen=True, slots=True)
class Job:
    """One build: the compiler, its flags and a folder that holds the sources."""

    toolchain: Toolchain
    flags: tuple[str, ...]
    folder: Path

    def call(self, *words: str) -> str:
        """Runs the compiler in the folder, so that it sees (and writes down) relative names only; what it says."""
        private = f"-ffile-prefix-map={self.folder}=."
        command = [*self.toolchain.command, *self.flags, private, *_MESSAGES, *words]
        answer = subprocess.run(command, cwd=self.folder, capture_output=True, text=True, errors="replace",
                                env={**os.environ, "LC_ALL": "C"})
        if answer.returncode:
            no_room = _NO_ROOM.search(answer.stderr)
            if no_room:  # neither the program's mistake nor ours
                raise Failure(f"the C compiler could not write what it made: {no_room[0]}")
            raise CompilerFailed(answer.stderr or answer.stdout)
        return answer.stderr

    def objects(self, sources: Iterable[str], out: Path) -> str:
        """Compiles every source into `out`, as many at once as there are cores; all the warnings and all the errors."""
        with ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
            said = list(pool.map(lambda source: self._object(source, out), sources))
        if any(failed for failed, _ in said):
            raise CompilerFailed("".join(text for _, text in said))
        return "".join(text for _, text in said)

    def _object(self, source: str, out: Path) -> tuple[bool, str]:
        target = out / object_name(source)
        try:
            return False, self.call(*INCLUDES, "-c", source, "-o", str(target))
        except CompilerFailed as failure:
            return True, str(failure)


def object_name(source: str) -> str:
    return source.replace("/", "-").removesuffix(".c") + ".o"


Link = Callable[[Bundle, Tree, Job, Path], str]
"""Compiles and links what is built, into a folder; answers the warnings."""


def compile_program(bundle: Bundle, target: str, diagnostics: Diagnostics | None = None) -> Path:
    """The path of the finished program, in the cache. Raises ProgramError when the user's C is wrong.

    Warnings about the user's C go to `diagnostics`.
    """
    return build_once("program", bundle, flags(target), _link, diagnostics) / bundle.app


def build_once(kind: str, bundle: Bundle, chosen: tuple[str, ...], link: Link, diagnostics: Diagnostics | None) -> Path:
    """The folder in the cache that `link` fills for this bundle, this compiler and these flags."""
    diagnostics = diagnostics if diagnostics is not None else Diagnostics()
    tree, toolchain = source_tree(bundle), find_toolchain()
    job = Job(toolchain, chosen, Path())
    key = cache.content_key([bundle.app, *identity(toolchain, chosen), *contents(tree)])
    return cache.fetch(kind, key, lambda out: _build(bundle, tree, job, link, out, diagnostics))


def identity(toolchain: Toolchain, chosen: tuple[str, ...]) -> list[str]:
    return [dfc.__version__, *toolchain.command, toolchain.version, *chosen, *_cpu(chosen)]


def _cpu(chosen: tuple[str, ...]) -> list[str]:
    """A native program must not be taken from a cache that another kind of processor shares with this one."""
    if not any(flag.endswith("=native") for flag in chosen):
        return []
    with open("/proc/cpuinfo", encoding="utf-8", errors="replace") as file:
        return sorted({line for line in file if line.startswith(("model name", "flags", "Features", "CPU part"))})


def contents(tree: Mapping[str, bytes]) -> Iterable[bytes]:
    return (part for name, data in tree.items() for part in (name.encode(), data))


def _build(bundle: Bundle, tree: Tree, job: Job, link: Link, out: Path, diagnostics: Diagnostics) -> None:
    with tempfile.TemporaryDirectory(prefix="dfc-build-") as folder:
        job = replace(job, folder=Path(folder))
        unpack(tree, job.folder)
        try:
            said = link(bundle, tree, job, out)
        except CompilerFailed as failure:
            add_c_errors(str(failure), bundle, diagnostics)
            raise ProgramError(diagnostics) from None
    add_c_errors(said, bundle, diagnostics, warnings_only=True)


def unpack(tree: Tree, folder: Path) -> None:
    for name, data in tree.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(data)


def _link(bundle: Bundle, tree: Tree, job: Job, out: Path) -> str:
    said, parts = compile_parts(tree, job)
    job.call("-o", str(out / bundle.app), *parts, *LINK_FLAGS)
    return said


def compile_parts(tree: Tree, job: Job) -> tuple[str, list[str]]:
    """Compiles what belongs to this program; the warnings, and the files to link: its objects, the runtime last."""
    own = [name for name in tree if name.endswith(".c") and not name.startswith("dfrt/")]
    made = job.folder / "objects"
    made.mkdir()
    runtime = runtime_library(tree, job)
    said = job.objects(own, made)
    return said, [*sorted(map(str, made.glob("*.o"))), str(runtime)]


def runtime_library(tree: Tree, job: Job) -> Path:
    """The runtime for this compiler and these flags, as a library: a program takes from it what it uses."""
    runtime = {name: data for name, data in tree.items() if name.startswith("dfrt/")}
    sources = [name for name in runtime if name.endswith(".c")]
    key = cache.content_key([*identity(job.toolchain, job.flags), *contents(runtime)])
    return cache.fetch("runtime", key, lambda out: _archive(job, sources, out)) / "libdfrt.a"


def _archive(job: Job, sources: list[str], out: Path) -> None:
    with tempfile.TemporaryDirectory(prefix="dfc-objects-") as folder:
        job.objects(sources, Path(folder))
        objects = sorted(map(str, Path(folder).glob("*.o")))
        tool("ar", "rcsD", str(out / "libdfrt.a"), *objects)


def tool(*words: str) -> None:
    """Runs a program of the C compiler's company."""
    try:
        subprocess.run(words, check=True, capture_output=True, text=True, env={**os.environ, "LC_ALL": "C"})
    except FileNotFoundError:
        raise Missing(f"`{words[0]}` is missing: install it with `apt-get install binutils`") from None
    except subprocess.CalledProcessError as error:
        no_room = _NO_ROOM.search(error.stderr)
        if no_room or not error.stderr.strip():  # `ar` says nothing when the disk is full
            why = no_room[0] if no_room else "it does not say why; is the disk full?"
            raise Failure(f"`{words[0]}` could not write what it made: {why}") from None
        raise CompilerFailed(error.stderr) from None
