"""Everything that runs on Spark, on executors that are processes of their own, in one session: says what it has done.

    python -m tests.spark.on_cluster FOLDER
"""

from __future__ import annotations

import shutil
import sys
from contextlib import chdir
from pathlib import Path

from dfc.compiler import pipeline
from dfc.compiler.deploy.samples import MACHINES, diamond, usual_goals
from dfc.compiler.deploy.search import Problem, Search
from dfc.compiler.graph.build import build_graph
from dfc.compiler.spark import engine
from dfc.compiler.spark.ingest import ingest
from dfc.compiler.spark.local_cluster import own_processes
from dfc.compiler.spark.populations import on_spark
from dfc.compiler.spark.profile import profile
from dfc.compiler.spark.session import spark_session
from dfc.compiler.spark.words import Words

from tests.rows import file_difference
from tests.spark.divided import build
from tests.spark.programs import HEADER, PROGRAM, program_in, row

CASES = sorted((Path(__file__).parents[1] / "conformance" / "cases").glob("*/program.dfl"))
MASTER = "local-cluster[2,1,1024]"


def has_dfc(spark) -> bool:
    def look(_):
        from importlib.util import find_spec

        return find_spec("dfc") is not None

    return any(spark.sparkContext.parallelize(range(2), 2).map(look).collect())


def run_case(spark, case: Path, folder: Path) -> None:
    shutil.copytree(case.parent, folder)
    with chdir(folder):
        engine.run(build(case.read_text()), Words(), spark, range_bytes=8000)
    for expected in sorted(folder.glob("*.expected.csv")):
        assert not file_difference(expected, folder / expected.name.replace(".expected.csv", ".csv"))


def learn(spark, folder: Path) -> None:
    program = program_in(folder)
    (folder / "trades.csv").write_text(HEADER + "".join(row(number) for number in range(5000)) + "what,is,this\n")
    checked = pipeline.check(PROGRAM, str(program), {})
    done = ingest(spark, checked, [str(folder / "trades.csv")], folder / "traces")
    assert (done.rows, done.rejected) == (5000, 1)
    print("ingest", flush=True)
    assert profile(spark, build_graph(checked), folder / "traces").seen["trades"]["rows"] == 5000
    print("profile", flush=True)


def deploy(spark) -> None:
    problem = Problem(diamond(5), MACHINES, usual_goals(5))
    here, there = Search(problem, (1, 2), 1.0), Search(problem, (1, 2), 1.0, populations=on_spark(spark))
    for search in (here, there):
        search.run(("ga",))
    assert here.found["ga"].deployment == there.found["ga"].deployment
    print("deploy", flush=True)


def main(folder: Path) -> None:
    with own_processes(MASTER) as memory, spark_session(MASTER, memory) as spark:
        print("dfc" if has_dfc(spark) else "no dfc", flush=True)
        for case in CASES:
            run_case(spark, case, folder / case.parent.name)
            print(case.parent.name, flush=True)
        learn(spark, folder)
        deploy(spark)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
