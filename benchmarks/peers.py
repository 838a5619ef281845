"""What a user could take instead: DuckDB on the csv row."""

from __future__ import annotations

import importlib.util
import sys
from importlib.metadata import version
from pathlib import Path

TITLE = "DuckDB"

# Panes of 2 s first, then five of them a window: the plan that somebody who knows DuckDB writes for this program.
QUERY = """
COPY (
  WITH panes AS (
    SELECT key, CAST(floor(ts / 2000) AS BIGINT) AS pane,
           count(*) AS n, sum(volume) AS volume, sum(price) AS total, min(price) AS low, max(price) AS high
    FROM read_csv($input, header = true, auto_detect = false, delim = ',', quote = '"',
                  columns = {{'ts': 'BIGINT', 'key': 'VARCHAR', 'price': 'DOUBLE', 'volume': 'BIGINT'}})
    GROUP BY ALL
  )
  SELECT key, (pane - step) * 2000 AS start, CAST(sum(n) AS BIGINT) AS n, CAST(sum(volume) AS BIGINT) AS volume,
         sum(total) / sum(n) AS mean, min(low) AS low, max(high) AS high
  FROM panes, range(5) AS steps(step)
  GROUP BY key, start
) TO $output (HEADER)
"""


def duckdb_version() -> str | None:
    return version("duckdb") if importlib.util.find_spec("duckdb") else None


def csv_command(rows: Path, output: Path) -> tuple[str, ...] | None:
    """A process of its own, like everybody else; None when DuckDB is not installed."""
    if duckdb_version() is None:
        return None
    return (sys.executable, __file__, str(rows), str(output))


def main() -> None:
    import duckdb

    rows, output = sys.argv[1:]
    query = QUERY.format().replace("$input", f"'{rows}'").replace("$output", f"'{output}'")
    duckdb.sql(query)


if __name__ == "__main__":
    main()
