"""One Spark session for all tests of this folder, which run in one process."""

from __future__ import annotations

import pytest

REASON = "Spark is not here: `pip install 'dfc[spark]'`, and Java 17 or newer"


@pytest.hookimpl(tryfirst=True)  # before the groups are read
def pytest_collection_modifyitems(items):
    for item in items:
        if item.path.parent.name == "spark":
            item.add_marker(pytest.mark.xdist_group("spark"))
    items.sort(key=lambda item: item.path.parent.name != "spark")  # the longest group begins, and none waits for it


@pytest.fixture(scope="session")
def spark():
    from dfc.compiler.failure import Missing

    try:
        from dfc.compiler.spark.session import require_spark, spark_session

        require_spark()
    except Missing as missing:
        pytest.skip(f"{REASON} ({missing})")
    with spark_session("local[2]", "1g") as session:
        yield session
