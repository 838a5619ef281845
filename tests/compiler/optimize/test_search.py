"""The search: fronts and recommendations, the space, and that a search gives the same whatever happens to it."""

from __future__ import annotations

import json
import os
import random
from argparse import Namespace
from pathlib import Path

import pytest

from tests.compiler.optimize.searched import APP, RATES, profile_text

np = pytest.importorskip("numpy")
SEED = int(os.environ.get("DFC_TEST_SEED", "1"))


@pytest.fixture(scope="module")
def ready(tmp_path_factory):
    """What `dfc optimize` searches, with a budget of 60 runs."""
    from dfc.compiler import pipeline
    from dfc.compiler.commands.optimize import prepared

    folder = tmp_path_factory.mktemp("ready")
    (folder / "p.json").write_text(profile_text())
    graph = pipeline.flow(pipeline.check(APP, "app.dfl", {}))
    return prepared(graph, Namespace(profile=str(folder / "p.json"), patterns=[], cores=None, seconds=600.0,
                                      service=[], service_cv=None, overhead=None, policy=None))


def searched(ready, journal: Path, play, resume: bool = False):
    from dfc.compiler.optimize.outcome import conclude
    from dfc.compiler.optimize.runs import Runs
    from dfc.compiler.optimize.search import Budget, search

    runs = Runs(journal, "same")
    runs.go_on() if resume else runs.begin()
    runs.play_by(play, 7)
    try:
        search(ready.space, runs, Budget(60, 3, 1), ready.known_points, ready.resource, ready.seconds)
    except KeyboardInterrupt:
        pass
    found = conclude("app", ready.space.scene, runs, ready.standing, ready.resource, 60, [])
    runs.close(finished=False)
    return found


@pytest.fixture(scope="module")
def player(ready):
    from dfc.compiler.simulate.control_library import open_controls
    from dfc.compiler.simulate.task import play_candidate

    return lambda runs: [play_candidate(ready.space.scene, *run, open_controls()) for run in runs]


@pytest.fixture(scope="module")
def whole(ready, player, tmp_path_factory):
    return searched(ready, tmp_path_factory.mktemp("whole") / "j.jsonl", player)


def test_the_recommended_plan_is_no_worse_and_nothing_dominates_the_front(whole):
    from dfc.compiler.optimize.judge import dominates, objectives

    old, new = whole.figures[whole.standing], whole.figures[whole.best]
    assert new["violations"] <= old["violations"] and whole.best != whole.standing
    assert new["violations"] < old["violations"] or new["cores"] < old["cores"]
    points = {key: objectives(one, whole.resource) for key, one in whole.figures.items()}
    for key in whole.front:
        assert not any(dominates(other, points[key]) for other in points.values())
    for key in set(points) - set(whole.front):
        assert any(dominates(points[other], points[key]) for other in whole.front)
    assert whole.seeds == 3 and whole.runs <= 60 + 8


def test_an_interrupted_search_goes_on_to_the_same_end(ready, player, whole, tmp_path):
    """After any number of batches, with the last line of the journal cut off, too."""
    stops = random.Random(SEED).sample(range(1, 8), 2)
    print(f"DFC_TEST_SEED={SEED} stops after {stops} batches")
    for stop in stops:
        played = []

        def play(runs, stop=stop, played=played):
            if len(played) == stop:
                raise KeyboardInterrupt
            played.append(len(runs))
            return player(runs)

        journal = tmp_path / f"{stop}.jsonl"
        kept = searched(ready, journal, play)
        assert kept is None or kept.best in kept.figures and not kept.complete
        journal.write_text(journal.read_text()[:-20])
        calls: list[int] = []
        again = searched(ready, journal, lambda runs, calls=calls: (calls.append(len(runs)), player(runs))[1], True)
        assert again.best == whole.best and again.figures == whole.figures and again.front == whole.front
        assert sum(calls) < whole.runs


def test_a_journal_of_another_search_is_refused(ready, player, tmp_path):
    from dfc.compiler.failure import Usage
    from dfc.compiler.optimize.runs import Runs

    journal = tmp_path / "j.jsonl"
    for text, words in (("notes", "no journal"), ("", "no journal"), ('{"journal": 1, "search": "x"}\n', "another"),
                        ("[]\n", "no journal")):
        journal.write_text(text)
        with pytest.raises(Usage, match=words):
            Runs(journal, "same").go_on()
        assert journal.read_text() == text
    journal.unlink()
    with pytest.raises(Usage, match="no search to go on with"):
        Runs(journal, "same").go_on()


def test_layers_are_those_of_the_definition():
    from dfc.compiler.optimize.judge import dominates, layers

    chance = random.Random(SEED)
    points = {n: tuple(chance.randrange(5) for _ in range(3)) for n in range(60)}
    found, left, number = layers(points), dict(points), 0
    while left:
        front = {key for key in left if not any(dominates(other, left[key]) for other in left.values())}
        assert front == {key for key, layer in found.items() if layer == number}
        left = {key: one for key, one in left.items() if key not in front}
        number += 1


def test_every_point_of_the_space_is_a_plan_that_can_be_compiled(ready, tmp_path):
    from dfc.compiler import pipeline
    from dfc.compiler.artifacts.plan_file import from_json, to_json
    from dfc.compiler.optimize.outcome import conclude, plan_file
    from dfc.compiler.optimize.runs import Runs, key_of
    from dfc.compiler.select.asked import Asked

    chance = random.Random(SEED)
    print(f"DFC_TEST_SEED={SEED}")
    graph = pipeline.flow(pipeline.check(APP, "app.dfl", {}))
    figures = {"violations": 1.0, "cores": 1.0, "power": 1.0, "reconfigurations": 0.0, "amplitude": 0.0,
               "settling": 0.0, "value": 1.0, "shed": 0.0, "latency_p95": 0.1}
    for number in range(25):
        candidate = ready.space.candidate([chance.random() for _ in ready.space.dimensions])
        runs = Runs(tmp_path / "j.jsonl", "same")
        runs.begin()
        runs.play_by(lambda asked: [figures] * len(asked), 9)
        runs.played([ready.standing, candidate], 1)
        found = conclude("app", ready.space.scene, runs, candidate, "cores", 2, [])
        assert found.standing == key_of(candidate)
        found = type(found)(**{**{name: getattr(found, name) for name in found.__dataclass_fields__},
                               "best": found.standing})
        text = to_json(plan_file(found, {}))
        path = tmp_path / f"{number}.plan.json"
        path.write_text(text)
        assert to_json(from_json(text, "app")) == text
        plan = pipeline.plan(graph, Asked(plan=str(path)))
        chosen = candidate["operators"]["means"]
        assert plan.decisions[0].pattern.name == chosen["pattern"]["name"]
        assert plan.alternates[0].alternate == chosen["alternate"]
        assert [one.degree for one in plan.segments if one.elastic and one.degree] == [chosen["pattern"]["workers"]]


def test_parameters_are_those_of_the_policies():
    """Every value of a dimension is one that the policy takes, and its standard has a place."""
    from dfc.compiler.optimize.space import PARAMETERS
    from dfc.compiler.simulate.control_library import open_controls

    controls = open_controls()
    for policy, dimensions in PARAMETERS.items():
        standards = {one.name: one.standard for one in controls.policy(policy).parameters}
        for at in (0.0, 0.3, 1.0):
            controls.values(policy, {one.name: one.value(at) for one in dimensions})
        for one in dimensions:
            found = one.value(one.place(standards[one.name]))
            assert found == min(max(standards[one.name], one.low), one.high)


def test_recorded_rates():
    from dfc.compiler.artifacts.profile import from_json
    from dfc.compiler.failure import Usage
    from dfc.compiler.optimize.recorded import recorded_rates

    def profile(**sources):
        return from_json(profile_text(sources=sources), "app")

    def seen(*series, **more):
        return {"rate": 5.0, "arrivals": {"series": [{"seconds": s, "rates": list(r)} for s, r in series]}, **more}

    assert recorded_rates(profile(s=seen((1.0, RATES))))[0] == tuple(RATES)
    assert recorded_rates(profile(s=seen((0.1, [1.0] * 10 + [3.0] * 10))))[0] == (1.0, 3.0)
    assert recorded_rates(profile(s=seen((10.0, [1.0, 3.0]))))[0] == (1.0,) * 10 + (3.0,) * 10
    both, said = recorded_rates(profile(s=seen((1.0, [1.0, 2.0, 3.0]), start=10.0), t=seen((1.0, [10.0]), start=12.0),
                                        u={"rate": 100.0}))
    assert both == (101.0, 102.0, 113.0) and "`u`" in said[0]
    rates, said = recorded_rates(profile(s=seen((1.0, [1.0, 9.0, 9.0, 1.0, 1.0]))), 2)
    assert rates == (9.0, 9.0) and "from second 1 on" in said[0]
    for wrong in ({}, {"arrivals": None}, {"arrivals": {"series": [{"seconds": 7, "rates": [1]}]}},
                  {"arrivals": {"series": [{"seconds": 1, "rates": ["x"]}]}}):
        with pytest.raises(Usage, match="no recorded rates"):
            recorded_rates(profile(s={"rate": 1.0, **wrong}))


def test_what_is_shipped_plays_without_dfc(ready, player, tmp_path):
    """Another Python gets the package, the library and the scene, and nothing of dfc."""
    import subprocess
    import sys

    from dfc.compiler.build.control import control_library
    from dfc.compiler.optimize.workers import Workers
    from dfc.compiler.spark.optimize import PACKAGE, package

    (tmp_path / "p.zip").write_bytes(package())
    path, declarations = control_library()
    (tmp_path / "told.json").write_text(json.dumps({"scene": ready.space.scene, "candidate": ready.standing,
                                                    "library": str(path), "declarations": declarations}))
    script = f"""
import json, platform, sys
sys.modules["dfc"] = None
sys.path.insert(0, "p.zip")
from {PACKAGE}.simulate import shipped, task
told = json.load(open("told.json"))
controls = shipped.open_shipped(open(told["library"], "rb").read(), told["declarations"], platform.machine())
print(json.dumps(task.play_candidate(told["scene"], told["candidate"], 1, controls)))
try:
    shipped.open_shipped(b"other", told["declarations"], "sparc")
except Exception as error:
    print(error)
"""
    answer = subprocess.run([sys.executable, "-c", script], cwd=tmp_path, capture_output=True, text=True, timeout=120)
    assert answer.returncode == 0, answer.stderr
    figures, refused = answer.stdout.splitlines()
    assert json.loads(figures) == player([(ready.standing, 1)])[0] and "built for sparc" in refused
    with Workers(ready.space.scene, 2) as workers:
        assert workers.play([(ready.standing, 1), (ready.standing, 2)]) == player([(ready.standing, 1),
                                                                                   (ready.standing, 2)])
