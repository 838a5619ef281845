"""Genetic searches for deployments on Spark find what they find here, and need no dfc where they run."""

from __future__ import annotations

import subprocess
import sys

import pytest

pytest.importorskip("pyspark")
from dfc.compiler.deploy import genetic  # noqa: E402
from dfc.compiler.deploy.samples import MACHINES, diamond, usual_goals  # noqa: E402
from dfc.compiler.deploy.search import Problem, Search  # noqa: E402
from dfc.compiler.spark import populations  # noqa: E402

PROBLEM = Problem(diamond(5), MACHINES, usual_goals(5))


def test_the_same_seeds_find_the_same_deployment(spark):
    here = Search(PROBLEM, range(1, 4), 1.0)
    there = Search(PROBLEM, range(1, 4), 1.0, populations=populations.on_spark(spark))
    here.run(("ga",))
    there.run(("ga",))
    assert there.found["ga"].deployment == here.found["ga"].deployment
    assert there.found["ga"].seeds == (1, 2, 3) and there.found["ga"].complete


def test_the_search_travels_by_value(tmp_path):
    from pyspark import cloudpickle

    with populations._by_value():
        travelling = cloudpickle.dumps((genetic.genetic, PROBLEM.dataflow, MACHINES, PROBLEM.goals,
                                         genetic.Breeding(generations=2)))
    (tmp_path / "search").write_bytes(travelling)
    code = ("import pickle, sys; sys.modules['dfc'] = None\n"
            "search, dataflow, machines, goals, how = pickle.load(open('search', 'rb'))\n"
            "print(len(search(dataflow, machines, goals, 1, how).placed) > 0)")
    answer = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True)
    assert (answer.stdout, answer.stderr) == ("True\n", "")
