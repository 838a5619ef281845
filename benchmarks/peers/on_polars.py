"""The csv and the windows row in Polars, on all cores: panes first, then five of them a window."""

from __future__ import annotations

import sys

import polars as pl

STEPS = pl.LazyFrame({"step": [0, 1, 2, 3, 4]}, schema={"step": pl.Int64})


def csv(given: str, output: str) -> None:
    schema = {"ts": pl.Int64, "key": pl.String, "price": pl.Float64, "volume": pl.Int64}
    panes = pl.scan_csv(given, schema=schema).group_by("key", pane=pl.col("ts") // 2000).agg(
        n=pl.len().cast(pl.Int64), volume=pl.sum("volume"), total=pl.sum("price"), low=pl.min("price"),
        high=pl.max("price"))
    windows = panes.join(STEPS, how="cross").group_by("key", start=(pl.col("pane") - pl.col("step")) * 2000).agg(
        n=pl.sum("n"), volume=pl.sum("volume"), mean=pl.sum("total") / pl.sum("n"), low=pl.min("low"),
        high=pl.max("high"))
    windows.collect().write_csv(output)


def windows(given: str, output: str) -> None:
    """Every window has five full panes of 200, so its spread is that within the panes and that between their means."""
    import packed

    quotes = pl.LazyFrame(packed.columns(given))
    panes = quotes.with_columns(pane=pl.int_range(pl.len()).over("key") // 200).group_by("key", "pane").agg(
        n=pl.len(), mean=pl.mean("price"), low=pl.min("price"), high=pl.max("price"), spread=pl.var("price", ddof=0),
        worth=(pl.col("price") * pl.col("volume")).sum(), volume=pl.sum("volume")).filter(pl.col("n") == 200)
    found = panes.join(STEPS, how="cross").group_by("key", start=pl.col("pane") - pl.col("step")).agg(
        n=pl.len(), mean=pl.mean("mean"), low=pl.min("low"), high=pl.max("high"),
        deviation=((pl.mean("spread") + pl.var("mean", ddof=0)) * 1000 / 999).sqrt(),
        weighted=pl.sum("worth") / pl.sum("volume")).filter(pl.col("n") == 5).collect()
    packed.write(output, {name: found[name].to_numpy() for name in packed.STATS.names})


def main() -> None:
    work, given, output = sys.argv[1:]
    (csv if work == "csv" else windows)(given, output)


if __name__ == "__main__":
    main()
