"""A C program that runs a generated one in parts, by ranges and tasks in two threads: what the binary gives comes out.
Under the sanitizers this covers what `dfc run --engine spark` does inside of executors."""

from __future__ import annotations

import subprocess

import pytest

from tests.embed.embedding import HERE, PROGRAMS, dfc_compile, link
from tests.rows import file_difference

SINKS = ("totals", "recent", "gone")


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    folder = tmp_path_factory.mktemp("orders")
    dfc_compile(PROGRAMS / "orders.dfl", folder / "lib", "--emit", "lib,exe")
    link(HERE / "orders_main.c", folder / "make", folder / "lib")
    link(HERE / "orders_cluster_main.c", folder / "parts", folder / "lib")
    return folder


@pytest.mark.parametrize("ranges", ["1", "7"])
def test_parts_give_what_the_binary_gives(built, tmp_path, ranges):
    subprocess.run([built / "make", "3000", "1", "callback"], cwd=tmp_path, check=True, timeout=300)
    subprocess.run([built / "lib" / "orders", "--quiet"], cwd=tmp_path, check=True, timeout=300)
    answer = subprocess.run([built / "parts", ranges], cwd=tmp_path, capture_output=True, text=True, timeout=300)
    assert (answer.returncode, answer.stderr) == (0, "")
    for sink in SINKS:
        assert len((tmp_path / f"{sink}.csv").read_text().splitlines()) > 20
        for way in ("pushed", "read"):
            assert not file_difference(tmp_path / f"{sink}.csv", tmp_path / f"{sink}.{way}")
