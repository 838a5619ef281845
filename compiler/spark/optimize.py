"""Runs of a search on Spark. Executors need Python with numpy and cffi, and no dfc: the simulator, the scene and the
controllers' library travel with the job."""

from __future__ import annotations

import io
import json
import platform
import shutil
import tempfile
import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dfc.compiler import failure
from dfc.compiler.build.control import control_library

from .session import in_partitions

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

# A name of its own: where dfc itself is installed, other jobs of the session go on using it.
PACKAGE = "dfc_simulator"
MODULES = ("failure.py", "report/__init__.py", "report/log.py", "report/saso.py", "simulate/__init__.py",
           "simulate/control_library.py", "simulate/decision_log.py", "simulate/measure.py", "simulate/plant.py",
           "simulate/shipped.py", "simulate/task.py", "simulate/trace.py", "simulate/trial.py")


def package() -> bytes:
    """The simulator as a zip file; equal modules give equal bytes."""
    root, made = Path(failure.__file__).parent, io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as file:
        for name in ("__init__.py", *MODULES):
            content = (root / name).read_bytes() if name in MODULES else b""
            file.writestr(zipfile.ZipInfo(f"{PACKAGE}/{name}"), content)
    return made.getvalue()


class Executors:
    """Plays runs on the executors of a session."""

    def __init__(self, spark: SparkSession, scene: Mapping[str, Any]):
        self.spark, self.scene = spark, scene

    def __enter__(self) -> Executors:
        self._folder = Path(tempfile.mkdtemp(prefix="dfc-ship-"))
        (self._folder / f"{PACKAGE}.zip").write_bytes(package())
        self.spark.sparkContext.addPyFile(str(self._folder / f"{PACKAGE}.zip"))
        path, declarations = control_library()
        job = {"scene": json.dumps(self.scene), "library": path.read_bytes(), "declarations": declarations,
               "machine": platform.machine()}
        self._job = self.spark.sparkContext.broadcast(job)
        return self

    def __exit__(self, *failure: object) -> None:
        shutil.rmtree(self._folder, ignore_errors=True)

    @property
    def parallel(self) -> int:
        return self.spark.sparkContext.defaultParallelism

    def play(self, runs: Sequence[tuple[Mapping[str, Any], int]]) -> list[dict[str, float]]:
        told = [json.dumps(run) for run in runs]
        # Runs of one seed meet the same triggers: neighbours share them.
        order = sorted(range(len(runs)), key=lambda at: runs[at][1])
        answers = in_partitions(self.spark, [told[at] for at in order], min(len(runs), 2 * self.parallel),
                                _player(self._job, PACKAGE))
        wrong = next((one for one in answers if isinstance(one, str)), None)
        if wrong is not None:
            raise failure.Failure(f"an executor can't play: {wrong}")
        found = dict(zip(order, answers, strict=True))
        return [found[at] for at in range(len(runs))]


def _player(job, package_name: str):
    """A function that travels by value: the executors can't import this module. What goes wrong there comes back as a
    line."""
    def play(part):
        import importlib
        import json

        try:
            task = importlib.import_module(f"{package_name}.simulate.task")
            shipped = importlib.import_module(f"{package_name}.simulate.shipped")
        except ImportError as error:
            return [f"it needs numpy and cffi beside Python ({error})"]
        told = job.value
        try:
            controls = shipped.open_shipped(told["library"], told["declarations"], told["machine"])
        except Exception as error:
            return [str(error)]
        scene = json.loads(told["scene"])
        return [task.play_candidate(scene, *json.loads(run), controls) for run in part]

    return play
