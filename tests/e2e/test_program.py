"""The generated program: its options, its summary, and one clear line for each way to fail."""

from __future__ import annotations

import json
import os
import pty
import re
import subprocess

import pytest

from tests.e2e.native import Native, compiled, one_line

TOUR = """\
app tour
record Quote { ts: timestamp<ms>, symbol: symbol, price: f64, size: i32 }
source quotes: Quote = csv("quotes.csv") event time ts slack 5ms
stream big = quotes |> filter size > 0
stream win = big
  |> by symbol |> window time 100ms |> aggregate { symbol, start: window_start, n: count(), m: median(price) }
sink out = win to csv("out.csv")
sink raw = big |> map { ts, symbol, d: size / (size - 3) } to csv("raw.csv")
"""
QUOTES = """\
ts,symbol,price,size
1,a,1.5,1
50,b,2.5,3
20,a,1.0,1
120,a,3.5,2
260,c,1.0,x
300,b,1.0,1
"""
OUT = "symbol,start,n,m\na,0,1,1.5\nb,0,1,2.5\na,100,1,3.5\nb,300,1,1.0\n"
RAW = "ts,symbol,d\n1,a,0\n50,b,0\n120,a,-2\n300,b,0\n"


@pytest.fixture(scope="module")
def built(tmp_path_factory) -> Native:
    return compiled(TOUR, tmp_path_factory.mktemp("tour"))


@pytest.fixture
def tour(built, tmp_path) -> Native:
    """The program in a folder with its input."""
    (tmp_path / "quotes.csv").write_text(QUOTES)
    return built.at(tmp_path)


# --- what it says -----------------------------------------------------------------------------------


def test_help_names_options_sources_and_sinks(tour):
    answer = tour.run("--help")
    assert (answer.returncode, answer.stderr) == (0, "")
    for word in ("--workers", "--source", "--stats", "quotes", "csv:quotes.csv", "raw", "csv:raw.csv", "SIGTERM"):
        assert word in answer.stdout
    assert not (tour.folder / "out.csv").exists()


def test_version(tour):
    answer = tour.run("--version")
    assert answer.returncode == 0 and re.fullmatch(r"tour \d+\.\d+\.\d+.*\n", answer.stdout)


@pytest.mark.parametrize("workers", [1, 3])
def test_results_and_summary(tour, workers):
    answer = tour.run("--stats", "--workers", workers)
    assert answer.returncode == 0
    assert (tour.folder / "out.csv").read_text() == OUT and (tour.folder / "raw.csv").read_text() == RAW
    check_summary(json.loads(answer.stderr.splitlines()[-1]), workers)


def check_summary(stats: dict, workers: int) -> None:
    totals = {"app": "tour", "in": 5, "out": 8, "late": 1, "malformed": 1, "faults": 1, "workers": workers}
    assert {name: stats[name] for name in totals} == totals
    assert stats["seconds"] > 0 and stats["tuples_per_second"] > 0
    latency = stats["latency_us"]
    assert latency["count"] == 8
    assert 0 < latency["p50"] <= latency["p90"] <= latency["p99"] <= latency["p999"] <= latency["max"]
    steps = {step["name"]: (step["in"], step["out"], step["late"], step["malformed"], step["faults"])
             for step in stats["steps"]}
    assert steps == {"quotes": (5, 4, 1, 1, 0), "big": (4, 4, 0, 0, 0), "win": (4, 4, 0, 0, 0),
                     "out": (4, 4, 0, 0, 0), "raw.1": (4, 4, 0, 0, 1), "raw": (4, 4, 0, 0, 0)}


def test_summary_in_a_file(tour):
    answer = tour.run("--stats=s t.json")
    assert answer.returncode == 0 and "{" not in answer.stderr
    check_summary(json.loads((tour.folder / "s t.json").read_text()), 1)


def test_a_summary_that_can_not_be_written_leaves_the_old_one(tour):
    (tour.folder / "full").symlink_to("/dev/full")
    assert tour.run("--stats=full").returncode == 4
    (tour.folder / "stats.json").write_text("old")
    tour.folder.chmod(0o555)
    try:
        tour.run("--stats=stats.json", "--sink", "out=discard:", "--sink", "raw=discard:")
        text = (tour.folder / "stats.json").read_text()
        assert text == "old" or json.loads(text)
    finally:
        tour.folder.chmod(0o755)
    assert {path.name for path in tour.folder.iterdir()} <= {"quotes.csv", "out.csv", "raw.csv", "full", "stats.json"}


@pytest.mark.parametrize("quiet", [False, True], ids=["loud", "quiet"])
def test_progress_on_a_terminal_only(tour, quiet):
    ours, theirs = pty.openpty()
    words = ["--source", "quotes=generate:count=3k,rate=2k,paced=true", "--sink", "out=discard:",
             "--sink", "raw=discard:", *(["--quiet"] if quiet else [])]
    process = subprocess.Popen([tour.path, *words], stderr=theirs, cwd=tour.folder)
    os.close(theirs)
    seen = read_terminal(ours)
    assert process.wait() == 0
    if quiet:
        assert seen == ""
    else:
        assert re.search(r"\rtour: [\d.]+ M tuples", seen), seen
        assert "\n" not in seen and seen.endswith("\r\x1b[K")  # one line, gone at the end


def read_terminal(ours: int) -> str:
    seen = b""
    while True:
        try:
            data = os.read(ours, 1 << 12)
        except OSError:  # the other end is closed
            break
        if not data:
            break
        seen += data
    os.close(ours)
    return seen.decode()


# --- how it fails -----------------------------------------------------------------------------------


@pytest.mark.parametrize("words", [
    ("--nope",), ("word",), ("--workers",), ("--workers", "0"), ("--workers", "999999"), ("--workers", "abc"),
    ("--workers", "-1"), ("--workers", ""), ("--layout", "round"), ("--report", "many"), ("--max-row", "0"),
    ("--source", "nobody=csv:x"), ("--source", "quotes"), ("--source", "quotes=csv:"), ("--source", "quotes=soup:x"),
    ("--source", "quotes="), ("--sink", "nobody=csv:x"), ("--sink", "out=lines:x"), ("--sink", "out=csv:"),
    ("--alternate", "win=x"), ("--source", "quotes=generate:count=abc"), ("--source", "quotes=generate:count"),
    ("--source", "quotes=generate:rate=0"), ("--source", "quotes=generate:keys=0"),
    ("--source", "quotes=generate:zipf=-1"), ("--source", "quotes=generate:nothing=1"),
    ("--source", "quotes=generate:price=3..1"), ("--source", "quotes=generate:disorder=soon"),
    ("--source", "quotes=lines:quotes.csv"),
], ids=" ".join)
def test_wrong_usage_is_one_line_and_2(tour, words):
    code, line = one_line(tour.run(*words))
    assert code == 2 and line.startswith("tour: error: ")
    assert not (tour.folder / "out.csv").exists()


def test_a_missing_source_file_says_what_else_can_be_read(tour):
    (tour.folder / "quotes.csv").unlink()
    assert one_line(tour.run()) == (4, "tour: error: cannot open 'quotes.csv': No such file or directory; "
                                       "--source quotes=csv:FILE reads another one, dfc generate makes one")
    asked = one_line(tour.run("--source", "quotes=csv:missing.csv"))
    assert asked == (4, "tour: error: cannot open 'missing.csv': No such file or directory")


@pytest.mark.parametrize("layout", ["fused", "staged"])
@pytest.mark.parametrize(("words", "said"), [
    (("--source", "quotes=csv:missing.csv"), "'missing.csv'"),
    (("--source", "quotes=csv:folder"), "'folder': it is a directory"),
    (("--source", "quotes=csv:short.csv"), "'short.csv' has no column 'size'"),
    (("--source", "quotes=csv:empty.csv"), "'empty.csv' is empty"),
    (("--source", "quotes=binary:missing.bin"), "missing.bin"),
    (("--sink", "out=csv:nowhere/out.csv"), "'nowhere/out.csv'"),
    (("--sink", "out=csv:folder"), "'folder'"),
    (("--sink", "out=csv:/dev/full"), "No space left on device"),
    (("--sink", "raw=binary:/dev/full"), "/dev/full"),
    (("--malformed", "nowhere/bad.csv"), "'nowhere/bad.csv'"),
], ids=lambda value: value if isinstance(value, str) else " ".join(value))
def test_a_failed_run_is_one_line_and_4(tour, layout, words, said):
    (tour.folder / "folder").mkdir()
    (tour.folder / "short.csv").write_text("ts,symbol,price\n")
    (tour.folder / "empty.csv").touch()
    clean = (tour.folder / "quotes.csv").read_text().replace("260,c,1.0,x\n", "")
    (tour.folder / "quotes.csv").write_text(clean)
    code, line = one_line(tour.run("--layout", layout, *words))
    assert code == 4 and line.startswith("tour: error: ") and said in line


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_an_unreadable_file(tour):
    (tour.folder / "quotes.csv").chmod(0)
    code, line = one_line(tour.run())
    assert code == 4 and "quotes.csv" in line and "denied" in line


@pytest.mark.parametrize("workers", [1, 3])
def test_a_disk_that_fills_up_during_the_run(tour, workers):
    """The header is written at once; the rows of many rounds come later."""
    words = ("--source", "quotes=generate:rate=1M/s", "--sink", "out=discard:", "--workers", workers)
    limited = "ulimit -f 64; trap '' XFSZ; exec \"$@\""
    answer = subprocess.run(["bash", "-c", limited, "bash", tour.path, *map(str, words)], cwd=tour.folder,
                            capture_output=True, text=True, timeout=120)
    code, line = one_line(answer)
    assert code == 4 and "'raw.csv': File too large" in line


@pytest.mark.parametrize("workers", [1, 3])
def test_a_reader_that_goes_away(tour, workers):
    words = ("--source", "quotes=generate:rate=1M/s", "--sink", "out=discard:", "--sink", "raw=csv:-")
    process = tour.start(*words, "--workers", workers)
    process.stdout.readline()
    process.stdout.close()
    assert process.wait(120) == 4
    assert process.stderr.read().decode().splitlines() == ["tour: error: cannot write 'standard output': Broken pipe"]


def test_closed_standard_streams(tour):
    closed = 'exec "$0" --sink raw=csv:- >&-'
    answer = subprocess.run(["bash", "-c", closed, tour.path], cwd=tour.folder, stderr=subprocess.PIPE, text=True)
    assert answer.returncode == 4 and "standard output" in answer.stderr
    everything = 'exec "$0" <&- >&- 2>&-'
    assert subprocess.run(["bash", "-c", everything, tour.path], cwd=tour.folder).returncode == 0
    assert (tour.folder / "out.csv").read_text() == OUT and (tour.folder / "raw.csv").read_text() == RAW


def test_it_runs_with_an_empty_environment(tour):
    assert tour.run(env={}).returncode == 0
    assert (tour.folder / "out.csv").read_text() == OUT
