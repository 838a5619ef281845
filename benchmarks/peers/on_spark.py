"""The csv row in Spark Structured Streaming, on all cores, on loopback, in a process that ends with this one."""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from pathlib import Path

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as f


def session(folder: Path) -> SparkSession:
    os.environ["SPARK_LOCAL_IP"] = "127.0.0.1"  # before the JVM looks for a name of this machine
    settings = {"spark.driver.host": "127.0.0.1", "spark.driver.bindAddress": "127.0.0.1", "spark.ui.enabled": "false",
                "spark.ui.showConsoleProgress": "false",
                "spark.sql.shuffle.partitions": "2", "spark.sql.session.timeZone": "UTC", "spark.log.level": "ERROR",
                "spark.sql.warehouse.dir": str(folder / "warehouse"), "spark.local.dir": str(folder)}
    builder = SparkSession.builder.master("local[*]").appName("csv")
    for name, value in settings.items():
        builder = builder.config(name, value)
    return builder.getOrCreate()


def windows(trades: DataFrame) -> DataFrame:
    return (trades.withColumn("at", f.timestamp_millis("ts")).withWatermark("at", "200 milliseconds")
            .groupBy(f.window("at", "10 seconds", "2 seconds"), "key")
            .agg(f.count("*").alias("n"), f.sum("volume").alias("volume"), f.avg("price").alias("mean"),
                 f.min("price").alias("low"), f.max("price").alias("high"))
            .select("key", f.unix_millis("window.start").alias("start"), "n", "volume", "mean", "low", "high"))


def run(given: Path, output: Path, folder: Path) -> None:
    """A stream of files reads a folder; `complete` gives the windows that are still open at the end too."""
    (folder / "in").mkdir()
    (folder / "in" / given.name).symlink_to(given.resolve())
    spark = session(folder)
    try:
        fields = "ts LONG, key STRING, price DOUBLE, volume LONG"
        trades = spark.readStream.schema(fields).csv(str(folder / "in"), header=True)

        def write(found: DataFrame, number: int) -> None:
            found.coalesce(1).write.mode("overwrite").csv(str(folder / "out"), header=True)

        query = (windows(trades).writeStream.outputMode("complete").trigger(availableNow=True)
                 .option("checkpointLocation", str(folder / "checkpoint")).foreachBatch(write).start())
        query.awaitTermination()
    finally:
        spark.stop()
    shutil.copyfile(next((folder / "out").glob("part-*.csv")), output)


def main() -> None:
    work, given, output = sys.argv[1:]
    assert work == "csv"
    with tempfile.TemporaryDirectory(prefix="dfc-bench-spark-") as folder:
        run(Path(given), Path(output), Path(folder))


if __name__ == "__main__":
    main()
