"""Changes of a running program from outside: results come at once, signals and failures end it, wrong words do too."""

from __future__ import annotations

import signal

import pytest

from tests.e2e.native import PATIENCE, Native, Talk, compiled

PROGRAM = """\
app changing
record Row { k: i64, v: i64 }
record Sum { k: i64, total: i64 }
source rows: Row = csv("-")
stream sums = rows |> by k |> scan { k, total: sum(v) }
operator labels on sums -> Sum {
  alternate plain = { k, total }
  alternate doubled = { k, total: total * 2 }
}
stream twice = sums |> by k |> update { n: i64 = 0 } with { n: n + 1 } emit { k, n, total }
sink out = twice to csv("-")
sink others = labels to csv("labels.csv")
control off
"""
CHANGES = "; ".join(f"{at} workers={1 + at * 7 % 3} operator={('sums', 'twice')[at % 2]} protocol={protocol} seed={at}"
                    for at, protocol in enumerate(("fluent", "r-blk", "s-blk") * 30))
STAGED = ("--workers", "1", "--max-workers", "3", "--layout", "staged", "--quiet")


@pytest.fixture(scope="module")
def program(tmp_path_factory) -> Native:
    return compiled(PROGRAM, tmp_path_factory.mktemp("changing"))


def say_row(talk: Talk, number: int) -> str:
    talk.say(f"{number % 5},{number}\n")
    (line,) = talk.hear(1)
    return line


def expected(number: int) -> str:
    before = range(number % 5, number + 1, 5)
    return f"{number % 5},{len(before)},{sum(before)}"


def test_results_come_at_once_while_everything_changes(program):
    process = program.start(*STAGED, "--reconfigure", CHANGES)
    talk = Talk(process)
    talk.say("k,v\n")
    assert talk.hear(1) == ["k,n,total"]
    for number in range(60):
        assert say_row(talk, number) == expected(number)
    assert talk.end() == []
    assert process.wait(PATIENCE) == 0


def test_a_signal_in_the_middle_of_changes(program):
    process = program.start(*STAGED, "--reconfigure", CHANGES)
    talk = Talk(process)
    talk.say("k,v\n")
    assert talk.hear(1) == ["k,n,total"]
    for number in range(10):
        assert say_row(talk, number) == expected(number)
    process.send_signal(signal.SIGTERM)
    assert process.wait(PATIENCE) == 0
    assert process.stderr.read() == b""


def test_a_failure_in_the_middle_of_changes(program, tmp_path):
    rows = "k,v\n" + "".join(f"{n % 50},{n}\n" for n in range(200_000))
    answer = program.run(*STAGED, "--reconfigure", CHANGES, "--sink", "out=csv:/dev/full", input=rows)
    assert answer.returncode == 4 and "No space left" in answer.stderr


@pytest.mark.parametrize(("spec", "said"), [
    ("3 workers=4 operator=sums", "sums can have workers=1 to 3; see --max-workers"),
    ("3 workers=0 operator=sums", "sums can have workers=1 to 3; see --max-workers"),
    ("3 workers=2", "say which one: operator=NAME"),
    ("3 workers=2 operator=rows", "there is no operator 'rows' whose degree can change"),
    ("soon workers=2", "'soon' is no whole number"),
    ("3m workers=2", "'3m' is neither a round nor a time like 1500ms"),
    ("3 workers", "'workers' is no NAME=VALUE"),
    ("3 workers=2 speed=4", "there is no 'speed', or it stands there twice"),
    ("3 workers=2 protocol=fast", "a migration protocol is fluent, r-blk or s-blk, not 'fast'"),
    ("3 workers=2 operator=sums heavy=17:2", "there is no worker 2 of 2"),
    ("3 workers=2 operator=sums heavy=17", "'' is no whole number"),
])
def test_wrong_scripts(program, spec: str, said: str):
    answer = program.run(*STAGED, "--reconfigure", spec, input="")
    assert answer.returncode == 2 and said in answer.stderr and answer.stderr.count("\n") == 1


def test_what_does_not_go_together(program):
    answer = program.run("--layout", "fused", "--reconfigure", "3 workers=1 operator=sums", input="")
    assert answer.returncode == 2 and "--reconfigure needs threads" in answer.stderr
    answer = program.run("--migration", "slow", input="")
    assert answer.returncode == 2 and "fluent, r-blk or s-blk" in answer.stderr


def test_a_script_in_a_file_and_a_trace(program, tmp_path):
    script, trace = tmp_path / "changes", tmp_path / "trace.csv"
    script.write_text("# first up, then down\n0 workers=3 operator=sums\n\n1 alternate=labels=doubled\n"
                      "2 workers=1 operator=sums\n")
    rows = "k,v\n" + "".join(f"{n % 7},1\n" for n in range(5000))
    answer = program.run(*STAGED, "--reconfigure", script, "--latency-trace", trace, input=rows)
    assert answer.returncode == 0 and answer.stderr == ""
    assert len(answer.stdout.splitlines()) == 5001
    header, *lines = trace.read_text().splitlines()
    assert header == "ms,results,mean_us,highest_us"
    assert sum(int(line.split(",")[1]) for line in lines) == 10_000
    assert all(float(line.split(",")[2]) <= float(line.split(",")[3]) + 0.1 for line in lines)
    labels = [line.split(",")[1] for line in (program.folder / "labels.csv").read_text().splitlines()[1:]]
    sums = [int(line.split(",")[2]) for line in answer.stdout.splitlines()[1:]]
    assert all(int(label) in (total, 2 * total) for label, total in zip(labels, sums, strict=True))
    assert int(labels[-1]) == 2 * sums[-1]


# Results of moved keys go to all active workers, with a watermark at every event; they are wider than a batch likes.
FIELDS = "".join(f"f{number}: sum(a), " for number in range(20))
TO_ALL = f"""\
app to_all
record Row {{ ts: timestamp<ms>, k: i64, a: i64 }}
source rows: Row = csv("rows.csv") event time ts
source others: Row = csv("rows.csv") event time ts
operator wide on rows by k window count 8 pattern key_partitioning {{ workers: 2 }} {{
  alternate a = {{ k, {FIELDS} }}
}}
operator late on wide window time 500ms pattern window_farming {{ workers: 2, style: active }} {{
  alternate a = {{ start: window_start, n: count(), total: sum(f0 + f19) }}
}}
stream plain = others |> window time 500ms |> aggregate {{ start: window_start, n: count(), total: sum(a) }}
sink out = late |> union plain to csv("out.csv")
"""


def test_keys_move_while_their_results_go_to_all(tmp_path):
    program = compiled(TO_ALL, tmp_path)
    rows = (f"{number},{number * 7 % 64},{number % 101}" for number in range(60_000))
    (tmp_path / "rows.csv").write_text("\n".join(("ts,k,a", *rows)) + "\n")
    assert program.run("--layout", "fused", "--quiet").returncode == 0
    alone = (tmp_path / "out.csv").read_text()
    changes = "; ".join(f"{at} workers=2 operator=wide seed={at}" for at in range(20, 60, 10))
    answer = program.run("--workers", "2", "--layout", "staged", "--quiet", "--reconfigure", changes)
    assert (answer.returncode, answer.stderr) == (0, "")
    assert (tmp_path / "out.csv").read_text() == alone and alone.count("\n") > 200
