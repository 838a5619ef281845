"""The csv row in Flink's SQL by PyFlink, on all cores, as a stream, in a cluster that lives in this process."""

from __future__ import annotations

import csv
import os
import sys
from pathlib import Path

from pyflink.table import EnvironmentSettings, TableEnvironment

# Flink knows no header: that row's numbers do not parse and are null.
ROWS = """
CREATE TABLE given (
  `ts` BIGINT, `key` STRING, `price` DOUBLE, `volume` BIGINT,
  `at` AS TO_TIMESTAMP_LTZ(COALESCE(`ts`, CAST(0 AS BIGINT)), 3), WATERMARK FOR `at` AS `at` - INTERVAL '0.200' SECOND
) WITH ('connector' = 'filesystem', 'path' = 'file://{given}', 'format' = 'csv', 'csv.ignore-parse-errors' = 'true')
"""

TRADES = "CREATE VIEW trades AS SELECT * FROM given WHERE `ts` IS NOT NULL"

WINDOWS = """
SELECT `key`, CAST(EXTRACT(EPOCH FROM window_start) AS BIGINT) AS `start`, COUNT(*) AS n, SUM(`volume`) AS `volume`,
       AVG(`price`) AS mean, MIN(`price`) AS low, MAX(`price`) AS high
FROM TABLE(HOP(TABLE trades, DESCRIPTOR(`at`), INTERVAL '2' SECOND, INTERVAL '10' SECOND))
GROUP BY `key`, window_start, window_end
"""


def environment() -> TableEnvironment:
    made = TableEnvironment.create(EnvironmentSettings.in_streaming_mode())
    for name, value in {"parallelism.default": str(len(os.sched_getaffinity(0))), "table.local-time-zone": "UTC",
                        "rest.bind-address": "127.0.0.1", "rest.address": "127.0.0.1"}.items():
        made.get_config().set(name, value)
    return made


def main() -> None:
    work, given, output = sys.argv[1:]
    assert work == "csv"
    tables = environment()
    tables.execute_sql(ROWS.format(given=Path(given).resolve()))
    tables.execute_sql(TRADES)
    with Path(output).open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(("key", "start", "n", "volume", "mean", "low", "high"))
        with tables.execute_sql(WINDOWS).collect() as rows:
            writer.writerows((row[0], row[1] * 1000, *row[2:]) for row in rows)


if __name__ == "__main__":
    main()
