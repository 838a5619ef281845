"""The compiled program writes the name of the alternate into its results as the interpreter does."""

from __future__ import annotations

import pytest

from tests.compiler.test_alternate_names import CODE, PROGRAM
from tests.e2e.native import Native, compiled


@pytest.fixture(scope="module")
def named(tmp_path_factory) -> Native:
    folder = tmp_path_factory.mktemp("named")
    (folder / "named.c").write_text(CODE)
    (folder / "s.csv").write_text("k,x\na,1.0\na,3.0\n")
    return compiled(PROGRAM, folder, "named.dfl")


@pytest.mark.parametrize("layout", ["fused", "staged"])
@pytest.mark.parametrize(("active", "wanted"), [
    ("typical=quick", "a,quick,2.0"), ("typical=own", "a,mine,3.0"), ("typical=exact", "a,exact,1.0")])
def test_results_say_which(named, layout, active, wanted):
    answer = named.run("--layout", layout, "--alternate", active, "--alternate", "each=native", "--quiet")
    assert (answer.returncode, answer.stderr) == (0, "")
    assert (named.folder / "out.csv").read_text() == f"k,alternate,mean\n{wanted}\n"
    assert (named.folder / "all.csv").read_text() == "k,alternate,mean\na,native,-1.0\na,native,-3.0\n"
