"""Random commands at random moments: degree, alternate, policy, shadow mode, configurations with other frequencies,
migration protocols and balancers. The results are those of the sequential program, each wholly by one alternate;
nothing is lost or doubled. Random programs: tests/differential/test_commands.py."""

from __future__ import annotations

import json
import os
import random
from pathlib import Path

import pytest
from dfc.compiler.live.client import Busy, Client

from tests.e2e.native import Native, compiled, wait_until
from tests.e2e.test_control import made_up_sysfs

PROGRAM = """\
app told
record Quote { id: u32, k: u32, price: f64 }
record Mean { k: u32, n: u64, mean: f64, alternate: symbol }
source quotes: Quote = csv("-")
operator typical on quotes by k window count 30 slide 6 -> Mean {
  alternate precise value 1.0 = { n: count(), mean: median(price) }
  alternate quick value 0.6 = { n: count(), mean: avg(price) }
}
stream counted = quotes |> by k |> window count 7 |> aggregate { k, n: count(), top: max(price) }
sink out = typical to csv("out.csv")
sink all = counted to csv("all.csv")
goal latency mean <= 5ms
goal throughput >= 0.9
minimize power
resources { cores: 1..4, frequency: 1.2GHz..2.0GHz step 0.4GHz }
control auto { step: 10ms }
"""
ROUNDS, ROWS = 30, 2500
FILES = 4  # configurations to load
POLICIES = ("auto", "mpc", "rule", "threshold", "spl", "rl", "static", "alternates", "off")


@pytest.fixture(scope="module")
def told(tmp_path_factory) -> Native:
    return compiled(PROGRAM, tmp_path_factory.mktemp("told"))


def rows(chance: random.Random) -> list[list[bytes]]:
    numbers = iter(range(ROUNDS * ROWS))
    return [[b"%d,%d,%d.5\n" % (next(numbers), min(int(chance.paretovariate(0.7)), 90), chance.randrange(1000))
             for _ in range(ROWS)] for _ in range(ROUNDS)]


def command(chance: random.Random) -> str:
    return chance.choice((
        f"workers typical {chance.randint(1, 4)}", f"workers counted {chance.randint(1, 4)}", "workers typical auto",
        f"alternate typical {chance.choice(('precise', 'quick', 'auto'))}",
        f"policy typical {chance.choice(POLICIES)}", f"policy counted {chance.choice(POLICIES[:-2])}",
        f"shadow {chance.choice(('on', 'off'))}", f"reload other{chance.randrange(FILES)}.json", "reload"))


def other(own: dict, chance: random.Random) -> dict:
    """The first operator at a frequency of its own."""
    first, *rest = [{**one, "migration": chance.choice(("fluent", "r_blk", "s_blk")),
                     "rebalance": {"method": chance.choice(("balanced", "flux", "off"))}} for one in own["operators"]]
    static = {"policy": "static", "parameters": {"frequency": chance.choice((1.2e9, 1.6e9)), "degree": 2},
              "safety": {"warmup": 0}}
    return {**own, "step": 0.003, "operators": [{**first, **static}, *rest]}


def plain(told: Native, folder: Path, data: list[list[bytes]], alternate: str) -> tuple[list[str], list[str]]:
    given = b"id,k,price\n" + b"".join(line for part in data for line in part)
    answer = told.at(folder).run("--quiet", "--control", "off", "--alternate", f"typical={alternate}", input=given,
                                 text=False)
    assert (answer.returncode, answer.stderr) == (0, b"")
    return written(folder)


def written(folder: Path) -> tuple[list[str], list[str]]:
    return tuple((folder / name).read_text().splitlines() for name in ("out.csv", "all.csv"))


def test_any_commands_at_any_moment(told, tmp_path):
    seed = int(os.environ.get("DFC_TEST_SEED", random.SystemRandom().randrange(1 << 32)))
    print(f"DFC_TEST_SEED={seed}")
    chance = random.Random(seed)
    data = rows(chance)
    of = {name: plain(told, tmp_path, data, name) for name in ("precise", "quick")}
    own = json.loads((told.path.parent / "control.json").read_text())
    for number in range(FILES):
        (tmp_path / f"other{number}.json").write_text(json.dumps(other(own, chance)))
    domain = made_up_sysfs(tmp_path)
    process = told.at(tmp_path).start("--quiet", "--max-workers", 4, "--socket", "told.sock", "--log", "log.jsonl",
                                      "--sysfs", "sys")
    process.stdin.write(b"id,k,price\n")
    process.stdin.flush()
    wait_until((tmp_path / "told.sock").exists, process)
    with Client(str(tmp_path / "told.sock")) as client:
        for part in data:
            process.stdin.write(b"".join(part))
            process.stdin.flush()
            for _ in range(chance.randrange(4)):
                try:
                    client.ask(command(chance))
                except Busy:
                    pass  # the last change is on its way
    _, error = process.communicate()
    assert (process.returncode, error) == (0, b"")
    made, counted = written(tmp_path)
    assert counted == of["precise"][1]
    assert len(made) == len(of["precise"][0])
    for number, line in enumerate(made[1:], 1):
        assert line == of[line.rsplit(",", 1)[1]][0][number]
    assert (domain / "scaling_max_freq").read_text() == "2000000\n"
    assert [json.loads(line)["schema"] for line in (tmp_path / "log.jsonl").read_text().splitlines()]
