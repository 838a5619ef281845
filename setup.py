"""Maps the folders at the root to import names: `dsl` becomes `dfc.dsl`, `compiler/api` is `dfc` itself.

Everything else stands in pyproject.toml; only the list of packages is found here, so that a new folder
needs no entry.
"""

from pathlib import Path

from setuptools import find_packages, setup

ROOTS = ("dsl", "runtime_c", "stdlib", "compiler")
HERE = Path(__file__).parent


def packages() -> list[str]:
    inner = [f"dfc.{root}.{name}" for root in ROOTS
             for name in find_packages(str(HERE / root), exclude=("api", "tests*"))]
    return ["dfc", *(f"dfc.{root}" for root in ROOTS), *inner]


setup(
    packages=packages(),
    package_dir={"dfc": "compiler/api", **{f"dfc.{root}": root for root in ROOTS}},
    data_files=[("share/cmake/Dfc", ["cmake/DfcDataflow.cmake", "cmake/dfc.mk"])],
)
