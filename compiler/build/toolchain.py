"""Which C compiler this machine has, and the flags that dfc calls it with."""

from __future__ import annotations

import functools
import os
import platform
import shlex
import shutil
import subprocess
from dataclasses import dataclass

from dfc.compiler.failure import Missing, Usage

CANDIDATES = ("cc", "gcc", "clang")
TARGETS = ("portable", "native")
SANITIZERS = ("address", "undefined", "thread")

# No contraction: a fused multiply-add rounds once where the program says twice, so results would depend on the machine.
NEEDED_FLAGS = ("-std=c11", "-ffp-contract=off", "-pthread")
# The header says how long the arrays are that a C function takes; the function may say that, or take pointers.
CHOSEN_FLAGS = ("-O2", "-Wall", "-Wextra", "-Wpedantic", "-Wno-array-parameter")
LINK_FLAGS = ("-lm", "-pthread")
INCLUDES = ("-I.", "-Idfrt/include")


@dataclass(frozen=True, slots=True)
class Toolchain:
    """`command` may hold several words (`CC="ccache gcc"`); `version` tells two compilers of one name apart."""

    command: tuple[str, ...]
    version: str


def find_toolchain() -> Toolchain:
    """The compiler named by $CC, else the first candidate that is installed."""
    return _identify(os.environ.get("CC", ""))


@functools.lru_cache(maxsize=4)
def _identify(named: str) -> Toolchain:
    command = _named(named) if named.strip() else _installed()
    answer = subprocess.run([*command, "--version"], capture_output=True, text=True, errors="replace")
    if answer.returncode:
        raise Missing(f"the C compiler `{shlex.join(command)}` does not work: {_first_line(answer.stderr)}")
    return Toolchain(command, answer.stdout.strip())


def _named(named: str) -> tuple[str, ...]:
    try:
        command = tuple(shlex.split(named))
    except ValueError as error:
        raise Usage(f"the environment variable CC can't be read: {error}") from None
    if shutil.which(command[0]) is None:
        raise Missing(f"the C compiler `{command[0]}` that the environment variable CC names is not installed")
    return command


def _installed() -> tuple[str, ...]:
    for name in CANDIDATES:
        if shutil.which(name):
            return (name,)
    raise Missing("no C compiler found: install one with `apt-get install gcc libc6-dev`, or name yours in CC")


def _first_line(text: str) -> str:
    return next(iter(text.strip().splitlines()), "it says nothing")


def flags(target: str, sanitize: bool = True) -> tuple[str, ...]:
    """Flags of one target; DFC_SANITIZE in the environment adds a sanitizer, unless it can't be used."""
    return (*NEEDED_FLAGS, *CHOSEN_FLAGS, *target_flags(target), *(_sanitizer_flags() if sanitize else ()))


def require_target(target: str) -> None:
    if target not in TARGETS:
        raise Usage(f"target {target}: there is {', '.join(TARGETS)}")


def target_flags(target: str) -> tuple[str, ...]:
    if target != "native":
        return ()
    arm = platform.machine() in ("aarch64", "arm64")
    return ("-O3", "-mcpu=native" if arm else "-march=native")


def _sanitizer_flags() -> tuple[str, ...]:
    name = os.environ.get("DFC_SANITIZE", "")
    if not name:
        return ()
    if name not in SANITIZERS:
        raise Usage(f"DFC_SANITIZE is `{name}`; it can be {', '.join(SANITIZERS)}")
    fatal = ("-fno-sanitize-recover=all",) if name == "undefined" else ()
    return (f"-fsanitize={name}", *fatal, "-g", "-O1", "-fno-omit-frame-pointer")
