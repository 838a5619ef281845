"""`dfc optimize` on Spark gives what it gives without."""

from __future__ import annotations

import pytest

from tests.compiler.optimize.searched import folder_with
from tests.spark.programs import dfc

pytest.importorskip("numpy")


def test_the_same_bytes_as_without_spark(spark, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(folder_with(tmp_path))
    words = ("optimize", "app.dfl", "--profile", "app.profile.json", "--budget", 30, "--seeds", 2)
    for name, more in (("spark", ()), ("here", ("--master", "none"))):
        code, _, wrong = dfc(capsys, *words, "-o", f"{name}.plan.json", *more)
        assert code == 0, wrong
    for ending in ("json", "html"):
        assert (tmp_path / f"spark.plan.{ending}").read_bytes() == (tmp_path / f"here.plan.{ending}").read_bytes()


def test_what_an_executor_lacks_is_one_line(spark, monkeypatch):
    """A library for another machine is refused there, and told here."""
    from dfc.compiler.failure import Failure
    from dfc.compiler.spark import optimize

    monkeypatch.setattr(optimize.platform, "machine", lambda: "sparc")
    with optimize.Executors(spark, {"digest": "x", "operators": []}) as executors, \
            pytest.raises(Failure, match="built for sparc"):
        executors.play([({}, 1)])
