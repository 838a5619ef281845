"""The `dfc` command: reads the words, calls one of `commands/`, and turns every ending into an exit code."""

from __future__ import annotations

import argparse
import importlib
import os
import sys

import dfc
from dfc.compiler.failure import FAILED, INTERRUPTED, PIPE_CLOSED, USAGE, Failure

DESCRIPTION = "Compiles declarative stream programs (.dfl) to native programs."
EXIT_CODES = """\
exit codes: 0 good, 1 the program is wrong, 2 wrong usage, 3 something is missing on this machine, 4 the run failed
"""


# Files of commands whose own names are taken.
_MODULES = {"compile": "compile_", "report": "report_page"}


def main(argv: list[str] | None = None) -> int:
    """Runs one command. No traceback reaches a user: DFC_DEBUG=1 asks for it."""
    try:
        return _flushed(_run(sys.argv[1:] if argv is None else argv))
    except Failure as failure:
        print(f"dfc: {failure}", file=sys.stderr)
        return failure.exit_code
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:
        _forget_stdout()
        return PIPE_CLOSED
    except Exception as error:  # the last line of defence: everything expected is caught above
        return _unexpected(error)


def _run(argv: list[str]) -> int:
    words, program_words = split_words(argv)
    parser = make_parser()
    args, unknown = parser.parse_known_args(words)
    if unknown:
        takes = args.command in ("run", "calibrate")
        hint = "; words for the program itself stand behind `--`, as in `-- --source NAME=csv:FILE`" if takes else ""
        parser.error(f"unrecognized arguments: {' '.join(unknown)}{hint}")
    if args.command is None:
        parser.print_help(sys.stderr)
        return USAGE
    args.program_words = program_words
    command = importlib.import_module(f"dfc.compiler.commands.{args.module}")
    try:
        return command.run(args)
    except Exception as error:
        return _program_error(error, args)


def _program_error(error: Exception, args: argparse.Namespace) -> int:
    """Diagnostics that a stage raised are shown like those that it collected; anything else goes on up."""
    from dfc.dsl.diagnostics import ProgramError

    if not isinstance(error, ProgramError):
        raise error
    from dfc.compiler.commands.report import report

    return report(error.diagnostics, args)


def split_words(argv: list[str]) -> tuple[list[str], list[str]]:
    """`run app.dfl -- --stats`: what follows the first `--` belongs to the program that is run."""
    if argv[:1] in (["run"], ["calibrate"]) and "--" in argv:
        at = argv.index("--")
        return argv[:at], argv[at + 1:]
    return argv, []


def make_parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="dfc", description=DESCRIPTION, epilog=EXIT_CODES, allow_abbrev=False)
    parser.add_argument("--version", action="version", version=f"dfc {dfc.__version__}")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND")
    _add_reading_commands(commands)
    _add_building_commands(commands)
    _add_watching_commands(commands)
    _add_generate(commands)
    _add_trace_commands(commands)
    error = _add(commands, "error", "say what a diagnostic means, with an example")
    error.add_argument("code", nargs="?", metavar="CODE", help="a code such as E0123; without one, all are listed")
    _add(commands, "version", "print the version")
    return parser


def _add_reading_commands(commands) -> None:
    _add(commands, "check", "say what is wrong with a program", program=True)
    fmt = _add(commands, "fmt", "write a program in the one standard form", program="many")
    fmt.add_argument("--check", action="store_true", help="change nothing; exit 1 if a file would change")
    fmt.add_argument("--diff", action="store_true", help="change nothing; print what would change")
    graph = _add(commands, "graph", "draw the dataflow graph, or the threads of a plan", program=True)
    graph.add_argument("-o", "--output", metavar="FILE", help="FILE.svg, .dot, .json or .txt (default: text to stdout)")
    _add_asked(graph)
    explain = _add(commands, "explain", "show operators, windows, the chosen layout and what every pattern would give",
                   program=True)
    _add_engine(explain)
    _add_asked(explain)
    _add_simulate(commands)
    _add_deploy(commands)


def _add_deploy(commands) -> None:
    deploy = _add(commands, "deploy", "find machines of a cloud, and alternates, that give the most for their price",
                  program=True)
    deploy.add_argument("--rate", dest="rates", metavar="SOURCE=N", action="append", default=[], type=_source_rate,
                        help="tuples a second that a source brings; can be given many times (default: the profile's)")
    deploy.add_argument("--hours", metavar="N", type=_hours, default=12.0, help="how long it will run (default: 12)")
    deploy.add_argument("--break-even", metavar="BEST,WORST", type=_costs,
                        help="what may be paid for the best alternates, and for the worst, without loss or gain")
    deploy.add_argument("--algorithms", metavar="LIST", default="sh,ce,ga",
                        help="of sh, ce, ga, exact (default: sh,ce,ga)")
    deploy.add_argument("--seed", metavar="N", type=_positive, default=1, help="of the genetic search (default: 1)")
    deploy.add_argument("--restarts", metavar="N", type=_positive, default=4,
                        help="genetic searches, of which the best counts (default: 4)")
    deploy.add_argument("--seconds", metavar="N", type=_seconds, default=60.0,
                        help="how long the exact search may take (default: 60)")
    deploy.add_argument("--profile", metavar="FILE", help="measured costs and rates, from `dfc calibrate`")
    deploy.add_argument("-o", "--output", metavar="FILE", help="write the deployments as JSON")


def _add_simulate(commands) -> None:
    simulate = _add(commands, "simulate", "say what throughput and latency would be with more cores, and how "
                    "controllers would do", program=True,
                    epilog="Without --rates every pattern is played for 1 to N workers. With "
                    "--rates the controllers that programs run are played against a load that changes: dfc simulate "
                    "app.dfl --rates walk.txt --cores 12 --policy mpc,rule,static --seeds 25")
    simulate.add_argument("--keys", metavar="uniform|SHARE|zipf:S|FILE", type=_keys,
                          help="how keys are distributed: evenly, with this share for the heaviest one, by Zipf's law, "
                               "or as a file tells (the last two with --rates)")
    simulate.add_argument("--rate", metavar="N", type=_rate, help="tuples a second at which latency is told")
    _add_asked(simulate)
    under = simulate.add_argument_group("under a load that changes")
    under.add_argument("--rates", metavar="FILE", help="tuples a second for every second: a rate a line, or the number "
                                                       "of seconds and then `second rate`")
    under.add_argument("--policy", metavar="LIST", help="policies to compare (default: the program's own)")
    under.add_argument("--set", dest="sweeps", metavar="NAME=VALUE[,VALUE]", action="append", default=[], type=_sweep,
                       help="a parameter of policy, controller or run, such as gamma=0,0.4 or step=4s or goal=2ms; "
                            "several values are compared; can be given many times")
    under.add_argument("--seeds", metavar="N", type=_seeds, help="runs of each, with other arrivals (default: 5)")
    under.add_argument("--service", metavar="[NAME=]TIME", action="append", default=[], type=_service,
                       help="time a trigger takes at the highest frequency, of an operator or alternate (default: by "
                            "the profile or the cost model)")
    under.add_argument("--service-cv", metavar="C", type=_variation,
                       help="coefficient of variation of that time (default: 0.1)")
    under.add_argument("--jobs", metavar="N", type=_positive, help="processes (default: as many as there are cores)")
    under.add_argument("-o", "--output", metavar="DIR", help="also write pictures and the runs of the first seed there")


def _add_building_commands(commands) -> None:
    compile_ = _add(commands, "compile", "write C and build the native program", program=True)
    compile_.add_argument("-o", "--output", metavar="DIR", help="the folder to write to (default: build)")
    compile_.add_argument("--target", choices=("portable", "native"), default="portable",
                          help="any machine of this architecture, or this one (default: portable)")
    compile_.add_argument("--emit", metavar="LIST", help="only these of ast,graph,plan,c,header,control,lib,exe; "
                                                         "texts alone go to stdout unless -o is given")
    compile_.add_argument("--amalgamate", action="store_true", help="write the runtime as one file, dfrt.c with dfrt.h")
    compile_.add_argument("--print-outputs", action="store_true", help="print what would be written; build nothing")
    _add_asked(compile_)
    run = _add(commands, "run", "compile a program and run it", program=True,
               epilog="Words after `--` go to the program: dfc run app.dfl -- --stats")
    run.add_argument("--workers", metavar="N", type=_positive, help="how many workers a parallel operator has")
    run.add_argument("--target", choices=("native", "portable"), default="native",
                     help="this machine, or any of its architecture (default: native)")
    _add_engine(run)
    run.add_argument("--master", metavar="URL",
                     help="where Spark runs: local[N], spark://HOST:PORT, … (default: local[*])")
    run.add_argument("--stream", action="store_true", help="with --engine spark: live input")
    run.add_argument("--log", metavar="DIR", help="write every decision and the summary there, for `dfc report DIR`")
    _add_asked(run)
    calibrate = _add(commands, "calibrate", "measure what a program's steps cost on this machine", program=True,
                     epilog="Words after `--` go to the program: dfc calibrate app.dfl -- --source quotes=csv:day.csv")
    calibrate.add_argument("-o", "--output", metavar="FILE", help="the profile to write (default: APP.profile.json)")
    calibrate.add_argument("--seconds", metavar="N", type=_seconds, default=10.0,
                           help="how long each of the two or four runs may last (default: 10)")
    run.add_argument("--interpret", action="store_true", help="run the reference interpreter instead (slow)")


def _add_watching_commands(commands) -> None:
    top = _add(commands, "top", "show a running program, live in the terminal")
    _add_socket(top)
    top.add_argument("--once", action="store_true", help="print one snapshot and end")
    top.add_argument("--interval", metavar="SECONDS", type=_seconds, default=1.0,
                     help="time between two pictures (default: 1)")
    ctl = _add(commands, "ctl", "ask a running program something, or tell it what to do",
               epilog="Without words the program lists what it understands: dfc ctl build/app.sock workers OPERATOR 3")
    _add_socket(ctl)
    ctl.add_argument("words", nargs="*", metavar="WORD", help="the request")
    ctl.add_argument("--json", action="store_true", help="print the answer as one line of JSON")
    report = _add(commands, "report", "write one page about a run: rate, degree, latency, decisions and their reasons")
    report.add_argument("run", metavar="RUN", help="a folder with decision logs, as `dfc run --log` makes, or one log")
    report.add_argument("-o", "--output", metavar="FILE", help="the page to write (default: report.html in the folder)")
    report.add_argument("--picture", metavar="FILE.svg", help="the curves alone, as a picture")
    report.add_argument("--json", action="store_true", help="print the figures as JSON instead of a table")


def _add_socket(parser) -> None:
    parser.add_argument("socket", metavar="SOCKET", help="the program's socket, or the folder that it is in: "
                                                         "build/APP.sock unless --socket says otherwise")


def _add_generate(commands) -> None:
    generate = _add(commands, "generate", "write a file of made-up tuples for a source, or a file of rates",
                    program="one",
                    epilog="Arrivals: constant:rate=, poisson:rate=, random_walk:rate=,step=, map:rate=,dispersion=, "
                           "pareto:rate=,hurst=, daily:low=,high=, rates:FILE. What is not said is as in the source's "
                           "own generate(...), if it has one.")
    generate.add_argument("-o", "--output", metavar="FILE", required=True,
                          help="FILE.csv, .jsonl, .bin (packed) or .txt (rates: lines SECOND RATE); - is stdout")
    generate.add_argument("--format", choices=("csv", "jsonl", "binary", "rates"),
                          help="where the name does not say it")
    generate.add_argument("--source", metavar="NAME", help="which source of the program (default: the only one)")
    generate.add_argument("--arrivals", metavar="PROCESS", help="when tuples come (default: constant:rate=1M)")
    generate.add_argument("--spacing", choices=("even", "poisson"), help="how they come while a rate holds")
    generate.add_argument("--keys", metavar="KEYS",
                          help="uniform:count=N, zipf:count=N,exponent=S or weights:FILE (default: uniform:count=1000)")
    generate.add_argument("--delay", metavar="DELAY", help="how much older tuples are than their place: "
                          "uniform:most=50ms, exponential:mean=5ms, pareto:least=1ms,shape=1.5; each also "
                          "with share=0.02")
    generate.add_argument("--set", dest="ranges", metavar="FIELD=LOW..HIGH", action="append", default=[],
                          help="the range of a field; can be given many times")
    generate.add_argument("--count", metavar="N", help="how many tuples, such as 10M")
    generate.add_argument("--seconds", metavar="TIME", help="for how long, such as 180s or 24h")
    generate.add_argument("--every", metavar="TIME", default="1s",
                          help="of a file of rates: from line to line (default: 1s)")
    generate.add_argument("--start", metavar="T", type=int, help="event time of the start, in units of the event time")
    generate.add_argument("--seed", metavar="N", type=_seed, help="equal seeds give equal files (default: 1)")


def _add_trace_commands(commands) -> None:
    ingest = _add(commands, "ingest", "turn event files and logs of a program into typed Parquet, with Spark")
    ingest.add_argument("files", nargs="+", metavar="FILE", help="FILE.csv, .jsonl, .parquet, a decision log, a summary "
                                                                 "of --stats, or a folder of such")
    ingest.add_argument("-o", "--output", metavar="DIR", required=True, help="the folder of traces; what it has is kept")
    ingest.add_argument("--source", dest="sources", metavar="NAME=PATTERN", action="append", default=[], type=_source_files,
                        help="files of which source (default: by their columns); can be given many times")
    ingest.add_argument("--quarantine", metavar="DIR", help="where rows go that are none (default: quarantine in the folder)")
    _add_spark(ingest)
    profile = _add(commands, "profile", "learn rates, keys, disorder, seasons and costs from traces, with Spark")
    profile.add_argument("traces", metavar="DIR", help="a folder that `dfc ingest` made")
    profile.add_argument("-o", "--output", metavar="FILE", help="the profile to write (default: APP.profile.json)")
    profile.add_argument("--page", metavar="FILE.html", help="the page of plots (default: beside the profile)")
    profile.add_argument("--costs", metavar="FILE", help="a profile of `dfc calibrate` whose costs are taken over")
    _add_spark(profile)


def _add_spark(parser) -> None:
    parser.add_argument("--program", metavar="PROGRAM.dfl", required=True, help="the program that the traces are of")
    parser.add_argument("-D", dest="defines", metavar="NAME=VALUE", action="append", default=[], type=_define,
                        help="set a `param` of the program; can be given many times")
    parser.add_argument("--master", metavar="URL", default="local[*]", help="where Spark runs (default: local[*])")
    parser.add_argument("--memory", metavar="SIZE", default="2g", help="of driver and executors (default: 2g)")


def _add_asked(parser) -> None:
    """What the choice of patterns goes by."""
    parser.add_argument("--cores", metavar="N", type=_positive,
                        help="cores to plan for (default: those of `resources`, else of this machine)")
    parser.add_argument("--profile", metavar="FILE", help="measured costs, rates and keys, from `dfc calibrate`")
    _add_pattern(parser)


def _add_engine(parser) -> None:
    parser.add_argument("--engine", choices=("native", "spark"), default="native",
                        help="this machine, or Spark over the program's files (default: native)")


def _add_pattern(parser) -> None:
    parser.add_argument("--pattern", dest="patterns", metavar="OPERATOR=PATTERN[:N[,M]]", action="append", default=[],
                        help="force an operator's pattern; can be given many times")


def _add(commands, name: str, summary: str, program: bool | str = False, epilog: str | None = None):
    """One command; those about a program share the file, the parameters and the form of diagnostics."""
    sentence = summary.capitalize() + "."
    parser = commands.add_parser(name, help=summary, description=sentence, epilog=epilog, allow_abbrev=False)
    parser.set_defaults(module=_MODULES.get(name, name), json=False, defines=[])
    if program:
        how_many = {"many": {"nargs": "+"}, "one": {"nargs": "?"}}.get(program, {})
        words = {"metavar": "PROGRAM.dfl", **how_many}
        parser.add_argument("program", help="the program; - is stdin", **words)
        parser.add_argument("--json", action="store_true", help="print diagnostics as lines of JSON")
    if program and program != "many":
        parser.add_argument("-D", dest="defines", metavar="NAME=VALUE", action="append", default=[], type=_define,
                            help="set a `param` of the program; can be given many times")
    return parser


def _define(word: str) -> tuple[str, str]:
    name, equals, value = word.partition("=")
    if not equals or not name.isidentifier():
        raise argparse.ArgumentTypeError(f"`{word}` is not NAME=VALUE")
    return name, value


def _positive(word: str) -> int:
    if not word.isascii() or not word.isdigit() or not 1 <= int(word) <= 256:
        raise argparse.ArgumentTypeError(f"`{word}` is not a number from 1 to 256")
    return int(word)


def _keys(word: str) -> str:
    """A share must be one; what is no number is a word or a file, which are looked at later."""
    law, _, exponent = word.partition(":")
    if law == "zipf" and not 0 <= _number(exponent, "an exponent between 0 and 8") <= 8:
        raise argparse.ArgumentTypeError(f"`{word}` is not zipf: and an exponent between 0 and 8")
    try:
        share = float(word)
    except ValueError:
        return word
    if not 0 < share < 1:
        raise argparse.ArgumentTypeError(f"`{word}` is not uniform or a share between 0 and 1")
    return word


def _source_rate(word: str) -> tuple[str, float]:
    name, equals, rate = word.partition("=")
    if not equals:
        raise argparse.ArgumentTypeError(f"`{word}` is not SOURCE=N")
    return name, _rate(rate.removesuffix("/s"))


def _source_files(word: str) -> tuple[str, str]:
    name, equals, pattern = word.partition("=")
    if not equals or not name.isidentifier() or not pattern:
        raise argparse.ArgumentTypeError(f"`{word}` is not NAME=PATTERN")
    return name, pattern


def _hours(word: str) -> float:
    hours = _number(word, "a number of hours")
    if not 0 < hours <= 1e6:
        raise argparse.ArgumentTypeError(f"`{word}` is not a number of hours")
    return hours


def _costs(word: str) -> tuple[float, float]:
    best, comma, worst = word.partition(",")
    costs = _number(best, "two costs, BEST,WORST"), _number(worst, "two costs, BEST,WORST")
    if not comma or not 0 < costs[1] < costs[0]:
        raise argparse.ArgumentTypeError(f"`{word}` is not BEST,WORST with 0 < WORST < BEST")
    return costs


def _sweep(word: str) -> tuple[str, tuple[str, ...]]:
    name, equals, values = word.partition("=")
    if not equals or not name.isidentifier() or not all(values.split(",")):
        raise argparse.ArgumentTypeError(f"`{word}` is not NAME=VALUE or NAME=VALUE,VALUE")
    return name, tuple(values.split(","))


def _service(word: str) -> tuple[str, float]:
    from dfc.compiler.durations import duration

    name, equals, time = word.rpartition("=")
    seconds = duration(time)
    if seconds is None or not 0 < seconds <= 3600 or (equals and not name.isidentifier()):
        raise argparse.ArgumentTypeError(f"`{word}` is not TIME or NAME=TIME, such as 0.45ms or predict=0.45ms")
    return name, seconds


def _seeds(word: str) -> int:
    if not word.isascii() or not word.isdigit() or not 1 <= int(word) <= 10_000:
        raise argparse.ArgumentTypeError(f"`{word}` is not a number from 1 to 10000")
    return int(word)


def _variation(word: str) -> float:
    found = _number(word, "a number from 0 to 10")
    if not 0 <= found <= 10:
        raise argparse.ArgumentTypeError(f"`{word}` is not a number from 0 to 10")
    return found




def _seed(word: str) -> int:
    if not word.isascii() or not word.isdigit() or int(word) >= 1 << 64:
        raise argparse.ArgumentTypeError(f"`{word}` is not a whole number below 2**64")
    return int(word)


def _rate(word: str) -> float:
    rate = _number(word, "a number of tuples a second")
    if not 0 < rate < 1e12:
        raise argparse.ArgumentTypeError(f"`{word}` is not a number of tuples a second")
    return rate


def _seconds(word: str) -> float:
    seconds = _number(word, "a number of seconds")
    if not 0 < seconds <= 3600:
        raise argparse.ArgumentTypeError(f"`{word}` is not a number of seconds up to 3600")
    return seconds


def _number(word: str, what: str) -> float:
    try:
        return float(word)
    except ValueError:
        raise argparse.ArgumentTypeError(f"`{word}` is not {what}") from None


def _flushed(code: int) -> int:
    """A full disk or a closed pipe shows at the last flush: better here than in the interpreter's exit."""
    sys.stdout.flush()
    return code


def _forget_stdout() -> None:
    """Python flushes stdout once more at exit; without this it would complain about the closed pipe."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _unexpected(error: Exception) -> int:
    if os.environ.get("DFC_DEBUG"):
        raise error
    if isinstance(error, OSError) and error.filename is None and error.strerror:
        print(f"dfc: {error.strerror}", file=sys.stderr)
        return FAILED
    what = " ".join(f"{type(error).__name__}: {error}".split())[:200]
    print(f"dfc: internal error ({what}); please report it with the program; DFC_DEBUG=1 shows where", file=sys.stderr)
    return FAILED


if __name__ == "__main__":
    sys.exit(main())
