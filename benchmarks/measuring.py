"""What all tables share: building programs, running them in turns, each on its cores."""

from __future__ import annotations

import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import data

HERE = Path(__file__).resolve().parent
BUILD = data.FOLDER / "programs"
DFC = os.environ.get("DFC", str(Path(sys.executable).parent / "dfc"))
LIMIT_FLAGS = ("-std=gnu11", "-O3", "-march=native")
BY_HAND = "by hand"
TRIES, OTHERS, COUNTED = 4, 0.06, 0.03  # others have at most this part of a core, and what two ticks make of it

Tell = Callable[[str], None]


@dataclass(frozen=True)
class Row:
    """One line of a table: a program, its hand-written limit, the files of both."""

    name: str
    what: str
    group: str                       # of data.FILES
    program: str
    inputs: tuple[tuple[str, str], ...]  # source and file
    result: str                      # how the file that comes out is read: csv, or the types of a packed record
    factor: int = 1                  # tuples for each record of the first file
    peers: str = ""                  # what peers call this work
    fewer: tuple[tuple[str, str], ...] = ()  # the same with fewer keys, which takes turns with the rest of the row
    fetched: int = 0                 # MB of memory that is used before each run, so that nobody waits for the host

    def tuples(self, scale: float) -> int:
        return data.records(self.group, scale) * self.factor


@dataclass(frozen=True)
class Contender:
    title: str
    command: tuple[str, ...]
    cores: int = 1
    tuples: int | None = None        # when it gets fewer than the others
    repeats: int | None = None       # when it is so slow that fewer must do
    fetched: int = 0                 # as of its row
    peer: bool = False               # another system, with gigabytes of memory


@dataclass(frozen=True)
class Measured:
    seconds: tuple[float, ...]
    megabytes: float

    @property
    def median(self) -> float:
        return statistics.median(self.seconds)


@dataclass(frozen=True)
class Shared:
    """A run beside others on the same cores."""

    seconds: float                   # from its start to its end
    processor: float                 # seconds that it computed


# --- building ----------------------------------------------------------------------------------------


def build_generated(program: str, name: str = "", *words: str) -> Path:
    """`name` tells apart what the words make of one program."""
    folder = BUILD / (name or program)
    text = HERE / "programs" / f"{program}.dfl"
    subprocess.run([DFC, "compile", text, "-o", folder, "--target", "native", *words], check=True)
    return folder / program


def build_limit(program: str) -> Path:
    """The runtime's reading and printing of numbers is at hand there, as any good library would be."""
    target = BUILD / f"limit-{program}"
    runtime = HERE.parent / "runtime_c"
    numbers = [runtime / "src" / name for name in ("number.c", "number_format.c", "number_powers.c", "utf8.c")]
    subprocess.run([os.environ.get("CC", "cc"), *LIMIT_FLAGS, f"-I{runtime / 'include'}", f"-I{runtime / 'src'}",
                    f"-I{HERE / 'programs'}", "-o", target, HERE / "limits" / f"{program}.c", *numbers, "-lm"],
                   check=True)
    return target


def build_launcher() -> None:
    """A small process: what we fork from Python counts Python's memory as its own peak."""
    BUILD.mkdir(parents=True, exist_ok=True)
    subprocess.run([os.environ.get("CC", "cc"), *LIMIT_FLAGS, "-o", BUILD / "launch", HERE / "launch.c"], check=True)


# --- command lines -----------------------------------------------------------------------------------


def all_cores() -> int:
    return len(os.sched_getaffinity(0))


def generated(row: Row, program: Path, output: Path, scale: float, *words: str, title: str = "generated",
              cores: int = 1) -> Contender:
    files = [word for source, spec in row.inputs for word in ("--source", f"{source}={in_folder(spec, scale)}")]
    if not row.inputs:
        plain = "seed=7,bid=100.0..150.0,ask=145.0..200.0,size=0..999"
        files = ["--source", f"quotes=generate:count={row.tuples(scale)},{plain}"]
    kind = "csv" if row.result == "csv" else "binary"
    command = (str(program), "--quiet", *words, *files, "--sink", f"out={kind}:{output}")
    return Contender(title, command, cores, fetched=row.fetched)


def by_hand(row: Row, program: Path, output: Path, scale: float) -> Contender:
    files = [in_folder(spec, scale).partition(":")[2] for _, spec in row.inputs] or [str(row.tuples(scale))]
    return Contender(BY_HAND, (str(program), *files, str(output)), fetched=row.fetched)


def in_folder(spec: str, scale: float) -> str:
    kind, _, name = spec.partition(":")
    return f"{kind}:{data.folder(scale) / name}"


# --- running -----------------------------------------------------------------------------------------


def run_once(contender: Contender) -> tuple[float, float]:
    """Seconds of wall-clock time, and the most memory that was resident, in MB (files that are mapped included)."""
    seconds, kilobytes, _ = _ended(contender, _launch(contender))
    return seconds, kilobytes / 1000


def run_at_once(contenders: list[Contender]) -> list[Shared]:
    """All at the same time, on the same cores. Each has a session of its own, between which Linux divides the cores
    evenly, however many threads each has."""
    launched = [_launch(contender) for contender in contenders]
    ended = [_ended(*each) for each in zip(contenders, launched, strict=True)]
    return [Shared(seconds, processor) for seconds, _, processor in ended]


def _launch(contender: Contender) -> subprocess.Popen[str]:
    cores = ",".join(map(str, sorted(os.sched_getaffinity(0))[-contender.cores:]))
    return subprocess.Popen([BUILD / "launch", cores, str(contender.fetched), *contender.command],
                            stdout=subprocess.PIPE, text=True, start_new_session=True)


def _ended(contender: Contender, launched: subprocess.Popen[str]) -> tuple[float, int, float]:
    """Seconds of wall-clock time, kilobytes that were resident at most, seconds of a processor."""
    said, _ = launched.communicate()
    if launched.returncode:
        raise SystemExit(f"{contender.title} failed with {launched.returncode}: {' '.join(contender.command)}")
    seconds, kilobytes, processor = said.split()[-3:]
    return float(seconds), int(kilobytes), float(processor)


def run_alone(contender: Contender) -> tuple[float, float]:
    """Once more, and again, when other processes took much of the cores meanwhile: that, and not how long it took,
    decides."""
    for _ in range(TRIES):
        busy, own, began = busy_seconds(), own_seconds(), time.monotonic()
        measured = run_once(contender)
        taken = time.monotonic() - began
        if busy_seconds() - busy - (own_seconds() - own) <= OTHERS * taken + COUNTED:
            break
    return measured


def busy_seconds() -> float:
    """Of all cores, since the machine was started; 0 where nobody counts that."""
    try:
        with open("/proc/stat") as file:
            user, nice, system, _, _, *interrupts = map(int, file.readline().split()[1:8])
    except OSError:
        return 0.0
    return (user + nice + system + sum(interrupts)) / os.sysconf("SC_CLK_TCK")


def own_seconds() -> float:
    """CPU time of this process and of what it has run."""
    return sum(os.times()[:4])


def measure(contenders: list[Contender], repeats: int, tell: Tell,
            before: Callable[[int], None] = lambda turn: None) -> list[Measured]:
    """In turns; each turn begins with another one, and before all with what is to be done `before` it. Who comes behind
    a peer runs once more, and that counts: while the kernel is busy giving the peer's memory back it would be slower
    than those behind it."""
    runs: list[list[tuple[float, float]]] = [[] for _ in contenders]
    for turn in range(repeats):
        before(turn)
        for i in range(len(contenders)):
            at = (turn + i) % len(contenders)
            if turn >= (contenders[at].repeats or repeats):
                continue
            tell(f"repeat {turn + 1} of {repeats}, {contenders[at].title}")
            if contenders[at - 1].peer and not contenders[at].peer:
                run_once(contenders[at])
            runs[at].append(run_alone(contenders[at]))
    return [Measured(tuple(seconds for seconds, _ in own), max(megabytes for _, megabytes in own)) for own in runs]


@contextmanager
def results_folder() -> Iterator[Path]:
    """Results stay in memory where they can: no disk is measured."""
    shared = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
    folder = Path(tempfile.mkdtemp(prefix="dfc-bench-", dir=shared))
    try:
        yield folder
    finally:
        shutil.rmtree(folder)


def teller(name: str) -> Tell:
    """A line of progress that the next one replaces; on a terminal only the last one stays."""
    return lambda what: print(f"\r\033[K{name}: {what}", end="", file=sys.stderr, flush=True)
