"""Random programs give the interpreter's results, in its order, while somebody sends them random commands: degrees,
policies, shadow mode, configurations with other frequencies, migration protocols and balancers.

Programs read slowly, and commands come until they end, so that control steps, commands and changes meet; how many
changes there were is counted. DFC_TEST_SEED repeats programs and commands; DFC_COMMANDED_PROGRAMS says how many
programs each part of `make soak` tries.
"""

from __future__ import annotations

import json
import os
import random
import re
import subprocess
import time
from dataclasses import replace
from pathlib import Path

import pytest
from dfc.compiler.failure import Failure
from dfc.compiler.live.client import Busy, Client, Refused
from hypothesis import strategies as st

from tests.differential import native
from tests.differential.pattern_programs import PatternCase, pattern_cases
from tests.differential.test_patterns import check_runs
from tests.differential.test_reconfiguration import MOST, elastic_operators
from tests.differential.trying import SEED, try_examples
from tests.e2e.test_control import made_up_sysfs
from tests.e2e.test_random_commands import POLICIES, other

SOAK = int(os.environ.get("DFC_COMMANDED_PROGRAMS", "60"))
ROUNDS, FILES, SECONDS = 7, 3, 0.3
MAY_REFUSE = re.compile("cannot change in this run")  # its degree, where a part of it has to see everything
CONTROL = f"""\
goal latency mean <= 5ms
goal throughput >= 0.9
minimize power
resources {{ cores: 1..{MOST}, frequency: 1.2GHz..2.0GHz step 0.4GHz }}
control auto {{ step: 5ms }}
"""


def command(operators: list[str], chance: random.Random) -> str:
    operator = chance.choice(operators)
    return chance.choice((
        f"workers {operator} {chance.randint(1, MOST)}", f"workers {operator} auto",
        f"policy {operator} {chance.choice(POLICIES[:-2])}", f"shadow {chance.choice(('on', 'off'))}",
        f"reload other{chance.randrange(FILES)}.json", "reload"))


def prepare(folder: Path, chance: random.Random) -> list[str]:
    """Writes other configurations; answers the operators that can be told something."""
    own = json.loads((folder / "control.json").read_text())
    for number in range(FILES):
        (folder / f"other{number}.json").write_text(json.dumps(other(own, chance)))
    if not (folder / "sys").exists():
        made_up_sysfs(folder)
    return [one["name"] for one in own["operators"]]


def send(process: subprocess.Popen, socket: Path, operators: list[str], chance: random.Random) -> int:
    """Until the program ends; answers how often something has changed, by command or policy."""
    changes = 0
    while process.poll() is None and not socket.exists():
        time.sleep(0.001)
    try:
        with Client(str(socket)) as client:
            while True:
                request = command(operators, chance)
                try:
                    client.ask(request)
                except Busy:
                    pass  # the last change is on its way
                except Refused as refused:
                    if not MAY_REFUSE.search(str(refused)):
                        raise native.Different(f"{request}: {refused}") from None
                changes = max(changes, sum(one["changes"] for one in client.ask("status")["status"]["operators"]))
                time.sleep(chance.choice((0.0, 0.001, 0.007)))
    except Failure:
        return changes  # it does not listen any more: it has ended, or is about to


def commanded(program: native.Program, rate: int, seed: int, changes: list[int]) -> dict:
    folder, chance = program.path.parent, random.Random(seed)
    operators = prepare(folder, chance)
    words = [program.path, "--quiet", "--report", "0", "--stats=stats.json", "--rate", f"{rate}/s",
             "--layout", "staged", "--workers", "2", "--max-workers", str(MOST), "--socket", "p.sock", "--sysfs", "sys"]
    process = subprocess.Popen(words, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    try:
        changes.append(send(process, folder / "p.sock", operators, chance))
        _, said = process.communicate(timeout=native.TIMEOUT)
    except subprocess.TimeoutExpired:
        raise native.Different("it does not end") from None
    finally:
        process.kill()
    if process.returncode:
        raise native.Different(f"exit {process.returncode}\n{said.decode(errors='replace')[-4000:]}")
    return json.loads((folder / "stats.json").read_bytes())


def can_be_told(case: PatternCase) -> bool:
    """Policies change alternates, which test_changing_alternates.py is for; several slow inputs meet as they arrive."""
    several = case.text.count("alternate ") > case.text.count("operator ")
    return not several and len(case.inputs[0]) == 1 and bool(elastic_operators(case))


def check_case(case: PatternCase, seed: int, changes: list[int]) -> None:
    rows = max(data.count(b"\n") for files in case.inputs for data in files.values())
    rate = max(1, round(rows / SECONDS))
    check_runs(replace(case, text=case.text.replace("control off\n", CONTROL)), {
        f"commands of seed {seed}": lambda program, _: commanded(program, rate, seed, changes)}, ROUNDS)


def try_commands(part: int, count: int, **sizes: int) -> None:
    """`count` programs that can be told something, in which something changed once on average."""
    changes: list[int] = []
    cases = pattern_cases(**sizes).filter(can_be_told)
    try_examples(lambda case, seed: check_case(case, seed, changes), part, count, cases, st.integers(0, 1 << 32),
                 shrink=False)
    assert len(changes) >= count and sum(changes) >= count, f"DFC_TEST_SEED={SEED}: changes of each run: {changes}"


@pytest.mark.parametrize("part", range(2))
def test_commands(part: int) -> None:
    try_commands(part, 6, data_sets=1)


@pytest.mark.slow
@pytest.mark.parametrize("part", range(100, 104))
def test_many_commands(part: int) -> None:
    try_commands(part, SOAK, most_rows=300, data_sets=2)
