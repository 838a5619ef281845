"""The csv and the windows row in DuckDB, on all cores."""

from __future__ import annotations

import sys

import duckdb

# Panes of 2 s first, then five of them a window: the plan that somebody who knows DuckDB writes for this program.
CSV = """
COPY (
  WITH panes AS (
    SELECT key, CAST(floor(ts / 2000) AS BIGINT) AS pane,
           count(*) AS n, sum(volume) AS volume, sum(price) AS total, min(price) AS low, max(price) AS high
    FROM read_csv('{given}', header = true, auto_detect = false, delim = ',', quote = '"',
                  columns = {{'ts': 'BIGINT', 'key': 'VARCHAR', 'price': 'DOUBLE', 'volume': 'BIGINT'}})
    GROUP BY ALL
  )
  SELECT key, (pane - step) * 2000 AS start, CAST(sum(n) AS BIGINT) AS n, CAST(sum(volume) AS BIGINT) AS volume,
         sum(total) / sum(n) AS mean, min(low) AS low, max(high) AS high
  FROM panes, range(5) AS steps(step)
  GROUP BY key, start
) TO '{output}' (HEADER)
"""

# Every window has five full panes of 200, so its spread is that within the panes and that between their means.
WINDOWS = """
WITH numbered AS (
  SELECT key, price, volume, (row_number() OVER (PARTITION BY key ORDER BY place) - 1) // 200 AS pane
  FROM (SELECT key, price, volume, row_number() OVER () AS place FROM quotes)
), panes AS (
  SELECT key, pane, avg(price) AS mean, min(price) AS low, max(price) AS high, var_pop(price) AS spread,
         sum(price * volume) AS worth, sum(volume) AS volume
  FROM numbered GROUP BY key, pane HAVING count(*) = 200
)
SELECT key, avg(mean) AS mean, min(low) AS low, max(high) AS high,
       sqrt((avg(spread) + var_pop(mean)) * 1000 / 999) AS deviation, sum(worth) / sum(volume) AS weighted
FROM panes, range(5) AS steps(step)
GROUP BY key, pane - step HAVING count(*) = 5
"""


def windows(given: str, output: str) -> None:
    import packed

    quotes = packed.columns(given)
    duckdb.register("quotes", quotes)
    packed.write(output, duckdb.sql(WINDOWS).fetchnumpy())


def main() -> None:
    work, given, output = sys.argv[1:]
    if work == "csv":
        duckdb.sql(CSV.format(given=given, output=output))
    else:
        windows(given, output)


if __name__ == "__main__":
    main()
