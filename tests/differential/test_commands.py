"""Random programs give the interpreter's results, in its order, while somebody sends them random commands: degrees,
policies, shadow mode, configurations with other frequencies, migration protocols and balancers.

Programs read slowly, and commands come until they end, so that control steps, commands and changes meet. DFC_TEST_SEED
repeats programs and commands; DFC_COMMANDED_PROGRAMS says how many programs each part of `make soak` tries.
"""

from __future__ import annotations

import json
import os
import random
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
from tests.differential.trying import try_examples
from tests.e2e.test_control import made_up_sysfs
from tests.e2e.test_random_commands import POLICIES, other

SOAK = int(os.environ.get("DFC_COMMANDED_PROGRAMS", "60"))
ROUNDS, FILES, SECONDS = 7, 3, 0.3
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


def send(process: subprocess.Popen, socket: Path, operators: list[str], chance: random.Random) -> None:
    """Until the program ends."""
    while process.poll() is None and not socket.exists():
        time.sleep(0.001)
    try:
        with Client(str(socket)) as client:
            while True:
                try:
                    client.ask(command(operators, chance))
                except (Busy, Refused):
                    pass  # the last change is on its way, or this one can't be in this layout
                time.sleep(chance.choice((0.0, 0.001, 0.007)))
    except Failure:
        return  # it does not listen any more: it has ended, or is about to


def commanded(program: native.Program, rate: int, seed: int) -> dict:
    folder, chance = program.path.parent, random.Random(seed)
    operators = prepare(folder, chance)
    words = [program.path, "--quiet", "--report", "0", "--stats=stats.json", "--rate", f"{rate}/s",
             "--layout", "staged", "--workers", "2", "--max-workers", str(MOST), "--socket", "p.sock", "--sysfs", "sys"]
    process = subprocess.Popen(words, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    try:
        send(process, folder / "p.sock", operators, chance)
        _, said = process.communicate(timeout=native.TIMEOUT)
    except subprocess.TimeoutExpired:
        raise native.Different("it does not end") from None
    finally:
        process.kill()
    if process.returncode:
        raise native.Different(f"exit {process.returncode}\n{said.decode(errors='replace')[-4000:]}")
    return json.loads((folder / "stats.json").read_bytes())


def check_case(case: PatternCase, seed: int) -> None:
    several = case.text.count("alternate ") > case.text.count("operator ")
    if not elastic_operators(case) or several or len(case.inputs[0]) > 1:
        return  # policies change alternates: test_changing_alternates.py; several slow inputs meet as they arrive
    rows = max(data.count(b"\n") for files in case.inputs for data in files.values())
    rate = max(1, round(rows / SECONDS))
    check_runs(replace(case, text=case.text.replace("control off\n", CONTROL)), {
        f"commands of seed {seed}": lambda program, _: commanded(program, rate, seed)}, ROUNDS)


@pytest.mark.parametrize("part", range(2))
def test_commands(part: int) -> None:
    try_examples(check_case, part, 6, pattern_cases(data_sets=1), st.integers(0, 1 << 32), shrink=False)


@pytest.mark.slow
@pytest.mark.parametrize("part", range(100, 104))
def test_many_commands(part: int) -> None:
    try_examples(check_case, part, SOAK, pattern_cases(most_rows=300, data_sets=2), st.integers(0, 1 << 32),
                 shrink=False)
