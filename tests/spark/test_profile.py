"""`dfc profile` against what is known of generated traffic: the whole way from files, and the file that it writes."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest

from tests.spark.programs import HEADER, START, dfc, program_in, row

pytest.importorskip("pyarrow")
np = pytest.importorskip("numpy")


@pytest.fixture(scope="module")
def traced(spark, tmp_path_factory):
    """Bursty traffic with zipf keys and delays of up to 40 ms, in three files; the folder, and what was made."""
    from dfc.compiler.cli import main

    folder = tmp_path_factory.mktemp("traced")
    program = program_in(folder)
    for number, name in enumerate(("a", "b", "c")):
        assert main(["generate", str(program), "-o", str(folder / f"{name}.csv"), "--arrivals",
                     "map:rate=3k,dispersion=300", "--seconds", "40s", "--keys", "zipf:count=200,exponent=1", "--delay",
                     "uniform:most=40ms", "--start", str(START + 40_000 * number), "--seed", str(number)]) == 0
    files = [str(folder / f"{name}.csv") for name in "abc"]
    assert main(["ingest", *files, "-o", str(folder / "traces"), "--program", str(program)]) == 0
    return folder


def rows_of(folder: Path) -> list[tuple[int, str]]:
    lines = [line.split(",") for name in "abc" for line in (folder / f"{name}.csv").read_text().splitlines()[1:]]
    return [(int(line[0]), line[1]) for line in lines]


def profiled(folder: Path, capsys, *words: object) -> dict:
    target = folder / "out.profile.json"
    code, said, wrong = dfc(capsys, "profile", folder / "traces", "--program", folder / "app.dfl", "-o", target, *words)
    assert code == 0, wrong
    return json.loads(target.read_text())


def test_counts_rates_and_bursts_are_those_of_the_events(traced, capsys):
    times = np.array([time for time, _ in rows_of(traced)])
    seen = profiled(traced, capsys)["sources"]["trades"]
    assert seen["rows"] == len(times) and seen["rejected"] == 0
    assert seen["rate"] == pytest.approx(len(times) / (times.max() - times.min()) * 1000, rel=1e-5)
    counts = np.bincount((times - times.min()) // 1000)[:-1]
    arrivals = seen["arrivals"]
    assert arrivals["dispersion"]["value"] == pytest.approx(counts.var(ddof=1) / counts.mean(), rel=1e-5)
    assert arrivals["dispersion"]["seconds"] == 1 and arrivals["dispersion"]["span"] == len(counts)
    series = next(one for one in arrivals["series"] if one["seconds"] == 1)
    assert series["rates"] == [float(one) for one in counts.tolist()]
    gaps = np.diff(np.sort(times)) / 1000
    assert arrivals["gaps"]["mean"] == pytest.approx(gaps.mean(), rel=1e-3)
    assert arrivals["gaps"]["sigma"] == pytest.approx(gaps.std(), rel=0.02)


def test_keys_are_counted_exactly(traced, capsys):
    keys = [key for _, key in rows_of(traced)]
    found = profiled(traced, capsys)["operators"]["sums"]
    counts = sorted(((count, key) for key, count in Counter(keys).items()), key=lambda one: (-one[0], one[1]))
    assert found["keys"]["count"] == len(counts)
    assert found["keys"]["top"] == pytest.approx([count / len(keys) for count, _ in counts], rel=1e-5)
    assert [key for key, _ in found["key_figures"]["heavy"]] == [key for _, key in counts[:20]]
    assert len(found["key_figures"]["over_time"]) == 24


def test_delays_are_those_of_the_order_of_arrival(traced, capsys):
    """Over the ends of files and pieces."""
    times = np.array([time for time, _ in rows_of(traced)])
    before = np.concatenate(([times[0]], np.maximum.accumulate(times)[:-1]))
    delays = np.maximum(before - times, 0)
    found = profiled(traced, capsys)["sources"]["trades"]["disorder"]
    assert found["k"] == delays.max() / 1000 and 0.03 < found["k"] <= 0.04
    assert found["out_of_order"] == pytest.approx((delays > 0).mean(), rel=1e-5)
    for name, share in (("p50", 0.5), ("p90", 0.9), ("p99", 0.99)):
        assert found["quantiles"][name] == pytest.approx(np.quantile(delays, share) / 1000, rel=0.04, abs=0.001)


def test_the_same_traces_give_the_same_bytes_and_a_page(traced, capsys):
    first, data = profiled(traced, capsys), (traced / "out.profile.json").read_bytes()
    assert profiled(traced, capsys) == first and (traced / "out.profile.json").read_bytes() == data
    assert len(data) < 1_000_000
    page = (traced / "out.profile.html").read_text()
    assert page.count("<svg") >= 2 and "index of dispersion" in page
    assert "http" not in page.replace("http://www.w3.org", "")


def test_the_compiler_takes_the_profile(traced, capsys):
    profiled(traced, capsys)
    fitted = json.loads((traced / "out.profile.json").read_text())["sources"]["trades"]["forecast"]
    code, said, wrong = dfc(capsys, "compile", traced / "app.dfl", "--profile", traced / "out.profile.json", "--emit",
                            "control")
    assert code == 0, wrong
    [operator] = [one for one in json.loads(said)["operators"] if one["name"] == "sums"]
    assert (operator["forecast"]["level"], operator["forecast"]["trend"]) == (fitted["level"], fitted["trend"])


def test_very_many_keys_are_counted_in_two_looks(spark, traced, tmp_path, capsys, monkeypatch):
    """The heavy ones stay exact; the number of all is that of a sketch."""
    program = program_in(tmp_path)
    with open(tmp_path / "many.csv", "w") as file:
        file.write(HEADER)
        for at in range(150_000):
            file.write(f"{START + at},{'heavy' if at % 10 == 0 else f'k{at * 7919 % 99_991}'},1,10,n\n")
    assert dfc(capsys, "ingest", tmp_path / "many.csv", "-o", tmp_path / "traces", "--program", program)[0] == 0
    found = profiled(tmp_path, capsys)["operators"]["sums"]
    assert not found["key_figures"]["exact"] and found["keys"]["p_max"] == 0.1
    assert found["key_figures"]["heavy"][0] == ["heavy", 0.1]
    exact = len({at * 7919 % 99_991 for at in range(150_000) if at % 10}) + 1
    assert found["keys"]["count"] == pytest.approx(exact, rel=0.03)


def test_logs_tell_what_operators_cost(spark, tmp_path, capsys):
    program = program_in(tmp_path)
    setting = {"workers": 1, "frequency": 0, "alternate": "exact", "shed": 0.0}
    step = {"schema": 1, "kind": "step", "operator": "sums", "policy": "mpc", "before": setting, "after": setting,
            "decision": setting, "acted": False, "fell_back": False, "reason": "", "held": "", "forecast": 1.0,
            "outcome": {"expected": None, "utilisation": 0.1, "latency": 0.001, "error": None}}
    lines = [json.dumps({"schema": 1, "kind": "start", "uptime": 0, "app": "trades"})]
    for at, (service, arrivals) in enumerate(((2e-6, 300), (4e-6, 100))):
        measured = {"arrivals": arrivals, "step": 1.0, "backlog": 0, "service": service, "results": arrivals,
                    "power": None}
        lines.append(json.dumps({**step, "uptime": at, "step": at, "measured": measured}))
    (tmp_path / "decisions.jsonl").write_text("\n".join([*lines, '{"schema": 1, "kind": "st']))
    summary = {"app": "trades", "seconds": 1.0, "steps": [{"name": "sums", "kind": "operator", "in": 1000, "out": 40}]}
    (tmp_path / "stats.json").write_text(json.dumps(summary))
    code, said, _ = dfc(capsys, "ingest", tmp_path / "decisions.jsonl", tmp_path / "stats.json", "-o",
                        tmp_path / "traces", "--program", program)
    assert code == 0 and "2 rows of decision log, 1 rejected (lines that are cut off" in said
    found = profiled(tmp_path, capsys)["operators"]["sums"]
    assert found["costs"]["exact"]["window"] == 2500 and found["selectivity"] == 0.04
    assert found["alternates"]["exact"]["value"] == 1 and found["alternates"]["exact"]["results"] == 1


def test_a_source_without_event_time_has_rows_and_keys(spark, tmp_path, capsys):
    program = tmp_path / "app.dfl"
    program.write_text("""app plain
record R { key: i64, word: symbol }
record N { key: i64, word: symbol, n: i64 }
source rows: R = csv("rows.csv")
sink out = rows |> by key, word |> window count 2 slide 2 |> aggregate { key, word, n: count() } to csv("out.csv")
source bare: N = csv("bare.csv")
sink all = bare to csv("all.csv")
""")
    (tmp_path / "rows.csv").write_text("key,word\n" + "".join(f"{at % 3},w{at % 2}\n" for at in range(12)))
    (tmp_path / "bare.csv").write_text("key,word,n\n1,a,1\n2,b,2\n")
    code, said, wrong = dfc(capsys, "ingest", tmp_path / "rows.csv", tmp_path / "bare.csv", "-o", tmp_path / "traces",
                            "--program", program)
    assert code == 0, wrong
    found = profiled(tmp_path, capsys)
    assert found["sources"] == {"rows": {"rate": None, "rows": 12, "rejected": 0},
                                "bare": {"rate": None, "rows": 2, "rejected": 0}}
    [keyed] = [one["keys"] for one in found["operators"].values() if one.get("keys")]
    assert keyed["count"] == 6 and keyed["p_max"] == pytest.approx(1 / 6, rel=1e-5)


# --- wrong input ------------------------------------------------------------------------------------


def only_line(answer: tuple[int, str, str], code: int, *words: str) -> None:
    assert answer[0] == code, answer
    assert answer[2].count("\n") == 1 and all(word in answer[2] for word in words), answer[2]


def test_wrong_traces_are_one_line(spark, tmp_path, capsys):
    program = program_in(tmp_path)
    (tmp_path / "a.csv").write_text(HEADER + row(1))
    (tmp_path / "empty").mkdir()
    traces = tmp_path / "traces"
    call = ("--program", program, "-o", tmp_path / "x.json")
    only_line(dfc(capsys, "profile", tmp_path / "none", *call), 2, "there is no folder")
    only_line(dfc(capsys, "profile", tmp_path / "empty", *call), 2, "has no traces; `dfc ingest")
    dfc(capsys, "ingest", tmp_path / "a.csv", "-o", traces, "--program", program)
    other = tmp_path / "other.dfl"
    other.write_text(program.read_text().replace("app trades", "app others"))
    only_line(dfc(capsys, "profile", traces, "--program", other), 2, "has traces of `trades`")
    assert dfc(capsys, "profile", traces, *call)[0] == 0, "one tuple is enough"
    data = json.loads((traces / "manifest.json").read_text())
    (traces / "manifest.json").write_text(json.dumps({**data, "schema": 9}))
    only_line(dfc(capsys, "profile", traces, *call), 4, "another schema than 1")
    (traces / "manifest.json").write_text("{")
    only_line(dfc(capsys, "profile", traces, *call), 4, "can't be read")
    (traces / "manifest.json").write_text(json.dumps(data))
    next(traces.rglob("*.parquet")).unlink()
    only_line(dfc(capsys, "profile", traces, *call), 4, "is gone; remove the folder and ingest again")
    only_line(dfc(capsys, "profile", traces, *call, "--master", "nowhere"), 2, "--master `nowhere` is none")
