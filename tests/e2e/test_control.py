"""A program with a controller: it acts, says why, stays within its limits, and refuses what it can't read."""

from __future__ import annotations

import json
import os
import random
from importlib import resources
from pathlib import Path

import pytest
from dfc.dsl.settings import POLICIES

from tests.compiler.json_schema import mistakes
from tests.e2e.native import Native, compiled, one_line, wait_until

ROWS = 300_000
HEAD = f"""\
app busy
record Quote {{ id: u32, k: u32, price: f64 }}
record Mean {{ k: u32, mean: f64, alternate: symbol }}
source quotes: Quote = generate(count: {ROWS}, keys: 40, seed: 3)
operator typical on quotes by k window count 100 slide 20 -> Mean {{
  alternate precise value 1.0 = {{ mean: median(price) }}
  alternate quick value 0.6 = {{ mean: avg(price) }}
}}
sink out = typical to csv("out.csv")
"""
# Any load is above such a threshold, so that the rule always wants one worker more.
EAGER = "goal throughput >= 0.9\ncontrol rule { utilisation: 0.0..0.000001, cooldown: 0s, warmup: 0s }\n"
PRECISE = ("--alternate", "typical=precise")
LOG_SCHEMA = json.loads(resources.files("dfc.compiler.codegen").joinpath("decision_log.schema.json").read_text())


@pytest.fixture(scope="module")
def eager(tmp_path_factory) -> Native:
    return compiled(HEAD + EAGER, tmp_path_factory.mktemp("eager"))


@pytest.fixture(scope="module")
def plain(eager, tmp_path_factory) -> list[str]:
    """What the same program writes when nobody decides."""
    folder = tmp_path_factory.mktemp("plain")
    run(eager.at(folder), "--control", "off")
    return written(folder)


def run(program: Native, *words: object) -> dict:
    answer = program.run("--stats=stats.json", "--quiet", *words)
    assert (answer.returncode, answer.stderr) == (0, "")
    return json.loads((program.folder / "stats.json").read_text())


def written(folder: Path) -> list[str]:
    return (folder / "out.csv").read_text().splitlines()


def lines(folder: Path, kind: str) -> list[dict]:
    found = [json.loads(line) for line in (folder / "log.jsonl").read_text().splitlines()]
    return [line for line in found if line["kind"] == kind]


def configuration(program: Native, folder: Path, **changes: object) -> str:
    """The program's own configuration with other values, in a file; `operator` changes that of the operator."""
    data = json.loads((program.path.parent / "control.json").read_text())
    operator = changes.pop("operator", {})
    data["operators"] = [{**one, **operator} for one in data["operators"]]
    (folder / "other.json").write_text(json.dumps({**data, **changes}))
    return "other.json"


# --- acting -----------------------------------------------------------------------------------------


def test_it_takes_workers_under_load_and_loses_nothing(eager, plain, tmp_path):
    stats = run(eager.at(tmp_path), "--max-workers", 3, "--step-rounds", 4, "--log", "log.jsonl", *PRECISE)
    steps = lines(tmp_path, "step")
    assert max(step["after"]["workers"] for step in steps) == 3
    assert all(1 <= step["after"]["workers"] <= 3 and step["reason"] for step in steps)
    assert (stats["in"], stats["layout"], written(tmp_path)) == (ROWS, "staged", plain)


def test_every_line_of_the_log_fits_its_schema(eager, tmp_path):
    run(eager.at(tmp_path), "--max-workers", 2, "--step-rounds", 10, "--log", "log.jsonl")
    found = [json.loads(line) for line in (tmp_path / "log.jsonl").read_text().splitlines()]
    assert [problem for line in found for problem in mistakes(line, LOG_SCHEMA)] == []
    assert (found[0]["kind"], found[-1]["kind"], found[-1]["event"]) == ("start", "event", "end")
    assert found[0]["configuration"] == json.loads((eager.path.parent / "control.json").read_text())
    numbers = [line["step"] for line in found if line["kind"] == "program"]
    assert numbers == list(range(1, len(numbers) + 1))


def test_what_was_expected_is_compared_with_what_happened(eager, tmp_path):
    control = configuration(eager, tmp_path, operator={"policy": "mpc", "parameters": {}})
    run(eager.at(tmp_path), "--max-workers", 2, "--step-rounds", 20, "--log", "log.jsonl", "--control", control)
    steps = lines(tmp_path, "step")
    assert steps[0]["outcome"]["expected"] is None
    for before, after in zip(steps, steps[1:], strict=False):
        assert after["outcome"]["expected"] == before["expected"]


def test_shadow_mode_decides_and_does_not_act(eager, plain, tmp_path):
    control = configuration(eager, tmp_path, shadow=True)
    run(eager.at(tmp_path), "--max-workers", 3, "--step-rounds", 4, "--log", "log.jsonl", "--control", control)
    steps = lines(tmp_path, "step")
    wanted = [step for step in steps if step["decision"] != step["before"]]
    assert wanted and {step["held"] for step in wanted} == {"shadow mode"}
    assert all(step["after"] == step["before"] and not step["acted"] for step in steps)
    assert written(tmp_path) == plain


def test_one_thread_moves_to_another_alternate(eager, tmp_path):
    control = configuration(eager, tmp_path, operator={"policy": "static", "parameters": {"alternate": "quick"}})
    stats = run(eager.at(tmp_path), "--layout", "fused", "--step-rounds", 20, "--control", control)
    made_by = [line.rsplit(",", 1)[1] for line in written(tmp_path)[1:]]
    assert stats["layout"] == "fused"
    assert set(made_by) == {"precise", "quick"} and made_by == sorted(made_by)


def test_each_result_is_wholly_of_one_alternate(eager, plain, tmp_path):
    run(eager.at(tmp_path), "--alternate", "typical=quick", "--control", "off")
    of = {"precise": plain[1:], "quick": written(tmp_path)[1:]}
    control = configuration(eager, tmp_path, operator={"policy": "static", "parameters": {"alternate": "quick"}})
    run(eager.at(tmp_path), "--max-workers", 2, "--step-rounds", 30, "--control", control)
    for number, line in enumerate(written(tmp_path)[1:]):
        assert line == of[line.rsplit(",", 1)[1]][number]


FOLLOWED = HEAD.replace("sink out = typical", """record Top { k: u32, top: f64 }
operator highest on typical by k window count 200 slide 1 -> Top { alternate sorted = { top: median(mean) } }
sink out = highest""")


def test_what_a_result_costs_those_behind_is_measured(tmp_path):
    program = compiled(FOLLOWED + EAGER, tmp_path)
    run(program, "--layout", "staged", "--step-rounds", 50, "--log", "log.jsonl")
    found = {name: [step["measured"]["downstream"] for step in lines(tmp_path, "step") if step["operator"] == name]
             for name in ("typical", "highest")}
    assert set(found["highest"]) == {None} and any(one is not None and one > 0 for one in found["typical"])
    run(program, "--layout", "fused", "--step-rounds", 50, "--log", "log.jsonl")
    assert {step["measured"]["downstream"] for step in lines(tmp_path, "step")} == {None}


SKEWED = """\
app skewed
record Quote { id: u32, k: u32, price: f64 }
source quotes: Quote = generate(count: 400000, keys: 60, zipf: 1.1, seed: 5)
stream means = quotes |> by k |> window count 50 slide 5 |> aggregate { k, m: median(price) }
sink out = means to csv("out.csv")
goal throughput >= 0.9
control static { degree: 2 }
"""


@pytest.mark.slow  # what a key brings is measured in time: on a busy machine the first division may already be even
def test_keys_are_divided_anew_when_one_worker_has_most_of_the_load(tmp_path):
    program = compiled(SKEWED, tmp_path)
    run(program, "--control", "off")
    plain_lines = written(tmp_path)
    run(program, "--max-workers", 2, "--step-rounds", 10, "--log", "log.jsonl")
    steps = lines(tmp_path, "step")
    assert steps[-1]["after"]["workers"] == 2
    assert any(step["rebalanced"] for step in steps)
    assert written(tmp_path) == plain_lines


HEAVY = """\
app heavy
record Quote { id: u32, k: u32, price: f64 }
source quotes: Quote = csv("in.csv")
stream sums = quotes |> by k |> scan { k, total: sum(price) }
sink out = sums to csv("out.csv")
goal throughput >= 0.9
control static { degree: 3 }
"""


def skewed_quotes(count: int) -> str:
    """Two keys have a third of all tuples each, and two hundred share the rest."""
    rows = (f"{i},{i % 3 if i % 3 < 2 else 2 + i * 7919 % 200},{i * 31 % 997}.5\n" for i in range(count))
    return "id,k,price\n" + "".join(rows)


def test_heavy_keys_get_routes_of_their_own(tmp_path, dfc):
    """What a scan's keys bring is counted in tuples, of which one in 128 to 1024 is looked at: the faster the worker,
    the fewer. Links hold 16 rounds of 1024 tuples, so that it has seen 184 when a step of 200 is over, and a third
    of as many samples at the least are of each heavy key: far from the eight, and the sixth of all, that a route takes.
    """
    (tmp_path / "in.csv").write_text(skewed_quotes(210_000))
    program = compiled(HEAVY, tmp_path)
    answer = dfc("run", "--interpret", "program.dfl")
    assert answer.returncode == 0, answer.stderr
    interpreted = written(tmp_path)
    control = configuration(program, tmp_path, operator={"safety": {"cooldown": 0, "warmup": 0}})
    run(program, "--max-workers", 3, "--step-rounds", 200, "--log", "log.jsonl", "--control", control)
    (change,) = [step for step in lines(tmp_path, "step") if step["acted"]]
    assert (change["before"]["workers"], change["after"]["workers"], change["heavy_keys"]) == (1, 3, 2)
    assert written(tmp_path) == interpreted


def test_the_least_of_the_cores_is_kept(eager, plain, tmp_path):
    control = configuration(eager, tmp_path, resources={"cores": {"least": 2, "most": 3}},
                            operator={"policy": "static", "parameters": {"degree": 1}})
    run(eager.at(tmp_path), "--max-workers", 3, "--step-rounds", 4, "--log", "log.jsonl", "--control", control,
        *PRECISE)
    assert {step["after"]["workers"] for step in lines(tmp_path, "step")} == {2}
    assert written(tmp_path) == plain


def test_more_cores_than_there_are_is_said_once(eager, tmp_path):
    control = configuration(eager, tmp_path, resources={"cores": {"least": 4, "most": 5}})
    answer = eager.at(tmp_path).run("--max-workers", 3, "--step-rounds", 40, "--control", control)
    assert one_line(answer) == (0, "busy: control: at least 4 cores are asked for, and this run can have 3")


# --- what is fixed ----------------------------------------------------------------------------------


def test_workers_on_the_command_line_are_not_the_controllers(eager, plain, tmp_path):
    answer = eager.at(tmp_path).run("--workers", 2, "--step-rounds", 4, "--log", "log.jsonl", *PRECISE)
    assert one_line(answer) == (0, "busy: control: --workers fixes the degree; the controller decides the rest")
    assert {step["after"]["workers"] for step in lines(tmp_path, "step")} == {2}
    assert written(tmp_path) == plain


def test_an_alternate_on_the_command_line_is_not_the_controllers(eager, tmp_path):
    control = configuration(eager, tmp_path, operator={"policy": "static", "parameters": {"alternate": "quick"}})
    run(eager.at(tmp_path), "--alternate", "typical=precise", "--step-rounds", 9, "--control", control)
    assert {line.rsplit(",", 1)[1] for line in written(tmp_path)[1:]} == {"precise"}


def test_a_program_without_goals_has_no_controller(tmp_path):
    program = compiled(HEAD, tmp_path)
    assert run(program)["layout"] == "fused"
    answer = program.run("--log", "log.jsonl")
    assert (answer.returncode, answer.stderr) == (0, "")
    assert lines(tmp_path, "step") == []


# --- learning ---------------------------------------------------------------------------------------


def test_what_was_learned_is_there_in_the_next_run(eager, tmp_path):
    control = configuration(eager, tmp_path, operator={"policy": "rl", "parameters": {"levels": 3}})
    words = ("--max-workers", 2, "--step-rounds", 20, "--control", control, "--learned", "learned.txt")
    run(eager.at(tmp_path), *words)
    first = (tmp_path / "learned.txt").read_text()
    assert first.startswith("dfc learned 1 busy\ntypical rl ") and first.count("\n") == 2
    run(eager.at(tmp_path), *words)
    assert (tmp_path / "learned.txt").read_text() != first
    (tmp_path / "learned.txt").write_text("dfc learned 1 busy\ntypical rl nonsense\n")
    answer = eager.at(tmp_path).run("--no-socket", *words)
    assert one_line(answer) == (
        0, "busy: learned.txt:2: what 'typical' has learned does not fit this run; it begins anew")
    assert (tmp_path / "learned.txt").read_text().startswith("dfc learned 1 busy\ntypical rl 1 ")


@pytest.mark.parametrize("text", ["typical rl 1 2 3\n", "dfc learned 1 other\n", "dfc learned 1 busy",
                                  "id,k,price\n1,2,3\n", "\0\0\n", "x" * 10_000])
def test_a_file_of_something_else_is_no_experience(eager, tmp_path, text):
    control = configuration(eager, tmp_path, operator={"policy": "rl", "parameters": {"levels": 3}})
    (tmp_path / "precious.txt").write_text(text)
    code, line = one_line(eager.at(tmp_path).run("--control", control, "--learned", "precious.txt"))
    assert code == 2 and line.startswith("busy: error: precious.txt:1:1: expected 'dfc learned 1 busy'"), line
    assert (tmp_path / "precious.txt").read_text() == text
    assert not (tmp_path / "out.csv").exists()


def test_a_pipe_is_no_experience(eager, tmp_path):
    os.mkfifo(tmp_path / "pipe")
    assert one_line(eager.at(tmp_path).run("--learned", "pipe")) == (
        4, "busy: error: cannot open 'pipe': it is no regular file")


# --- the machine ------------------------------------------------------------------------------------


def made_up_sysfs(folder: Path) -> Path:
    domain = folder / "sys/devices/system/cpu/cpufreq/policy0"
    domain.mkdir(parents=True)
    for name, value in {"cpuinfo_min_freq": 1200000, "cpuinfo_max_freq": 2000000, "scaling_min_freq": 1200000,
                        "scaling_max_freq": 2000000, "scaling_cur_freq": 2000000}.items():
        (domain / name).write_text(f"{value}\n")
    meter = folder / "sys/class/powercap/intel-rapl:0"
    meter.mkdir(parents=True)
    (meter / "energy_uj").write_text("5000000\n")
    return domain


def test_frequency_is_set_and_set_back(eager, tmp_path):
    domain = made_up_sysfs(tmp_path)
    control = configuration(eager, tmp_path, resources={"frequencies": [1.2e9, 1.6e9, 2.0e9]},
                            operator={"policy": "static", "parameters": {"frequency": 1.6e9}})
    run(eager.at(tmp_path), "--step-rounds", 30, "--log", "log.jsonl", "--sysfs", "sys", "--control", control)
    steps = lines(tmp_path, "step")
    assert (steps[0]["before"]["frequency"], steps[-1]["after"]["frequency"]) == (2, 1)
    assert (domain / "scaling_max_freq").read_text() == "2000000\n"
    assert {line["power_is_measured"] for line in lines(tmp_path, "program")} == {True}
    assert {line["frequency"] for line in lines(tmp_path, "program")} == {2e9}


def test_a_machine_without_cpufreq_is_said_once(eager, tmp_path):
    control = configuration(eager, tmp_path, resources={"frequencies": [1.2e9, 2.0e9]}, minimize="power")
    answer = eager.at(tmp_path).run("--step-rounds", 9, "--sysfs", tmp_path, "--control", control)
    assert answer.returncode == 0
    assert answer.stderr.splitlines() == [
        f"busy: no cpufreq below '{tmp_path}': the frequency stays as it is",
        f"busy: no energy meter below '{tmp_path}': power is the model's"]


@pytest.mark.parametrize(("frequencies", "place"), [([1.2e9, 1.6e9, 2.0e9], 2), ([], None)])
def test_without_cpufreq_the_log_has_the_highest_frequency(frequencies, place, eager, tmp_path):
    """By its place in the list, and nothing where there is none."""
    control = configuration(eager, tmp_path, resources={"frequencies": frequencies},
                            operator={"policy": "rule", "parameters": {}})
    run(eager.at(tmp_path), "--step-rounds", 30, "--log", "log.jsonl", "--sysfs", tmp_path, "--control", control)
    steps = lines(tmp_path, "step")
    settings = [one for step in steps for one in (
        step["before"], step["after"], step["decision"], step["expected"]["setting"],
        *(other["setting"] for other in step["alternatives"]))]
    assert steps and {one["frequency"] for one in settings} == {place}


def test_what_is_shed_is_counted(eager, tmp_path):
    """A goal that nothing meets, no cheaper alternate left, one worker: the last resort."""
    goals = [{"metric": "latency", "bound": 1e-9}]
    control = configuration(eager, tmp_path, goals=goals, resources={"shed": 0.5}, operator={"policy": "rule"})
    stats = run(eager.at(tmp_path), "--layout", "fused", "--step-rounds", 5, "--log", "log.jsonl", "--control", control)
    assert stats["shed"] > 0
    assert stats["in"] + stats["shed"] == ROWS
    assert all(step["after"]["shed"] <= 0.5 for step in lines(tmp_path, "step"))


def test_nothing_is_shed_unless_allowed(eager, tmp_path):
    control = configuration(eager, tmp_path, goals=[{"metric": "latency", "bound": 1e-9}])
    stats = run(eager.at(tmp_path), "--layout", "fused", "--step-rounds", 5, "--control", control)
    assert (stats["shed"], stats["in"]) == (0, ROWS)


# --- hostile configurations -------------------------------------------------------------------------


OPERATOR = '{{"schema": 2, "app": "busy", "operators": [{{"name": "typical", "policy": "{}", "parameters": {{{}}}}}]}}'
STRATEGIES = "goals, th_node, th_power, lat_node, lat_power, rho_node, rho_power"


def parameter(policy: str, text: str, value: str, said: str) -> tuple[str, str]:
    """A configuration with such parameters, and what is said at the place of that value."""
    whole = OPERATOR.format(policy, text)
    return whole, f"other.json:1:{whole.index(text) + text.index(value) + 1}: {said}"


@pytest.mark.parametrize(("text", "wanted"), [
    ("", "other.json:1:1: a value is expected, not the end"),
    ("[]", "other.json:1:1: \"this\" is expected to be an object"),
    ('{"schema": 2,\n "app": "other"}', 'other.json:1:1: "app" is expected to be "busy": this is for another program'),
    ('{"schema": 1, "app": "busy"}', 'other.json:1:1: "schema" is expected to be 2'),
    ('{"schema": 2, "app": "busy",\n  "step": 0}',
     'other.json:2:11: "step" is expected to be from 0.001 to 86400, not 0'),
    ('{"schema": 2, "app": "busy", "stop": 1}', 'other.json:1:38: there is no "stop" here; is it misspelt?'),
    ('{"schema": 2, "app": "busy", "operators": [{"name": "none"}]}',
     'other.json:1:44: "name" is expected to be a step of the program'),
    ('{"schema": 2, "app": "busy", "resources": {"cores": {"least": 3, "most": 2}}}',
     'other.json:1:53: "most" is expected to be at least "least"'),
    ('{"schema": 2, "app": "busy", "operators": [{"name": "typical", "policy": "rule", "parameters": {"lw": 1}}]}',
     'other.json:1:103: there is no "lw" here; is it misspelt?'),
    ('{"schema": 2, "app": "busy", "resources": {"frequencies": [2e9, 1e9]}}',
     'other.json:1:65: "frequencies" is expected to rise with each value, from above 0 to at most 1e+12, '
     '64 values at most'),
    ('{"schema": 2, "app": "busy", "resources": {"frequencies": [1e9, 1e9]}}',
     'other.json:1:65: "frequencies" is expected to rise with each value, from above 0 to at most 1e+12, '
     '64 values at most'),
    ('{"schema": 2, "app": "busy", "goals": [{"metric": "latency", "bound": 0}]}',
     'other.json:1:71: a "bound" on latency is expected to be above 0'),
    parameter("rule", '"low": 2, "high": 1', "2,", '"low" is expected to be at most "high", which is 1'),
    parameter("threshold", '"utilisation_high": 0.1, "utilisation_low": 0.9', "0.9",
              '"utilisation_low" is expected to be at most "utilisation_high", which is 0.1'),
    parameter("mpc", '"strategy": 3', "3", f'"strategy" is expected to be one of {STRATEGIES}'),
    parameter("mpc", '"strategy": "odd"', '"odd"', f'"strategy" is expected to be one of {STRATEGIES}'),
    parameter("static", '"alternate": "odd"', '"odd"', '"alternate" is expected to be one of precise, quick'),
    parameter("mpc", '"horizon": true', "true", '"horizon" is expected to be a number'),
    parameter("mpc", '"horizon": "two"', '"two"', '"horizon" is expected to be a number'),
])
def test_a_broken_configuration_is_refused_with_its_place(eager, tmp_path, text, wanted):
    (tmp_path / "other.json").write_text(text)
    answer = eager.at(tmp_path).run("--control", "other.json")
    assert one_line(answer) == (2, f"busy: error: {wanted}")
    assert not (tmp_path / "out.csv").exists()


def test_what_is_counted_is_whole(eager, tmp_path):
    counted = {(policy, name) for policy, settings in POLICIES.items() for name, one in settings.items()
               if one.kind == "int" and name not in ("season", "kp") and policy not in ("pid", "fuzzy")}
    assert ("mpc", "horizon") in counted and ("rule", "patience") in counted
    for policy, name in sorted(counted):
        (tmp_path / "other.json").write_text(OPERATOR.format(policy, f'"{name}": 2.5'))
        code, said = one_line(eager.at(tmp_path).run("--control", "other.json"))
        assert code == 2 and f'"{name}" is expected to be a whole number, not 2.5' in said, (policy, said)


def test_a_threshold_that_is_left_out_gives_way(eager, tmp_path):
    for policy, parameters in (("rule", '"utilisation_high": 0.5'), ("rule", '"low": 2'), ("rule", '"high": 0.1')):
        (tmp_path / "other.json").write_text(OPERATOR.format(policy, parameters))
        run(eager.at(tmp_path), "--step-rounds", 40, "--control", "other.json")


def test_no_bytes_hurt_the_reader(eager, tmp_path):
    """Whatever is in the file: the program runs with it, or says in one line where it is wrong."""
    seed = int(os.environ.get("DFC_TEST_SEED", random.SystemRandom().randrange(1 << 32)))
    print(f"DFC_TEST_SEED={seed}")
    chance = random.Random(seed)
    good = (eager.path.parent / "control.json").read_bytes()
    for _ in range(40):
        text = bytearray(good)
        for _ in range(chance.randrange(1, 6)):
            at = chance.randrange(len(text))
            text[at:at + chance.randrange(3)] = chance.choice((b"", b"0", b'"', b"{", b"]", b"-1e400", b"\xff", b"\0"))
        (tmp_path / "other.json").write_bytes(text)
        answer = eager.at(tmp_path).run("--quiet", "--control", "other.json", "--step-rounds", 1,
                                        "--source", "quotes=generate:count=3000,keys=40,seed=3")
        if answer.returncode:
            code, line = one_line(answer)
            assert code == 2 and line.startswith("busy: error: other.json"), line


def test_a_missing_configuration(eager, tmp_path):
    code, line = one_line(eager.at(tmp_path).run("--control", "nowhere.json"))
    assert (code, "nowhere.json" in line) == (4, True)


def test_a_log_that_can_not_be_written(eager, tmp_path):
    code, line = one_line(eager.at(tmp_path).run("--log", tmp_path / "no" / "log.jsonl"))
    assert (code, "decision log" in line) == (4, True)


# --- odd loads --------------------------------------------------------------------------------------

LIVE = HEAD.replace(f"generate(count: {ROWS}, keys: 40, seed: 3)", 'csv("-")')


@pytest.mark.parametrize("policy", ["auto", "mpc", "rule", "threshold", "spl", "rl", "static", "alternates"])
def test_a_stalled_source_is_waited_for(tmp_path, policy, live):
    """Steps without a tuple: the setting stays, and the reason says why. What comes at last is worked on."""
    control = configuration(live, tmp_path, step=0.002, operator={"policy": policy, "parameters": {}})
    process = live.at(tmp_path).start("--quiet", "--max-workers", 2, "--control", control, "--log", "log.jsonl")
    process.stdin.write(b"id,k,price\n")
    process.stdin.flush()
    log = tmp_path / "log.jsonl"
    wait_until(lambda: log.exists() and log.read_text().count('"kind":"step"') >= 5, process)
    _, error = process.communicate(b"".join(b"%d,1,1.5\n" % i for i in range(200)))
    assert (process.returncode, error) == (0, b"")
    assert len(written(tmp_path)) == 1 + 6
    steps = lines(tmp_path, "step")
    assert all(step["reason"] and 1 <= step["after"]["workers"] <= 2 for step in steps)
    assert [problem for step in steps for problem in mistakes(step, LOG_SCHEMA)] == []


@pytest.fixture(scope="module")
def live(tmp_path_factory) -> Native:
    return compiled(LIVE + EAGER, tmp_path_factory.mktemp("live"))
