"""The commands of dfc with their options and help; loads nothing that a command needs."""

from __future__ import annotations

import argparse

import dfc
from dfc.compiler.option_words import (
    costs,
    definition,
    hours,
    keys,
    overhead,
    rate,
    seconds,
    seed,
    seed_count,
    service,
    small_count,
    source_files,
    source_rate,
    svg_file,
    sweep,
    variation,
)

DESCRIPTION = "Compiles declarative stream programs (.dfl) to native programs."
EXIT_CODES = """\
exit codes: 0 good, 1 the program is wrong, 2 wrong usage, 3 something is missing on this machine, 4 the run failed
"""


# Files of commands whose own names are taken.
_MODULES = {"compile": "compile_", "report": "report_page"}


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
    _add_plan(graph)
    explain = _add(commands, "explain", "show operators, windows, the chosen layout and what every pattern would give",
                   program=True, json="the explanation as JSON instead of text")
    _add_engine(explain)
    _add_asked(explain)
    _add_plan(explain)
    _add_simulate(commands)
    _add_deploy(commands)


def _add_deploy(commands) -> None:
    deploy = _add(commands, "deploy", "find machines of a cloud, and alternates, that give the most for their price",
                  program=True, json="the deployments as JSON instead of a table")
    deploy.add_argument("--rate", dest="rates", metavar="SOURCE=N", action="append", default=[], type=source_rate,
                        help="tuples a second that a source brings; can be given many times (default: the profile's)")
    deploy.add_argument("--hours", metavar="N", type=hours, default=12.0, help="how long it will run (default: 12)")
    deploy.add_argument("--break-even", metavar="BEST,WORST", type=costs,
                        help="what may be paid for the best alternates, and for the worst, without loss or gain")
    deploy.add_argument("--algorithms", metavar="LIST", default="sh,ce,ga",
                        help="of sh, ce, ga, exact (default: sh,ce,ga)")
    deploy.add_argument("--seed", metavar="N", type=small_count, default=1, help="of the genetic search (default: 1)")
    deploy.add_argument("--restarts", metavar="N", type=small_count, default=4,
                        help="genetic searches, of which the best counts (default: 4)")
    deploy.add_argument("--seconds", metavar="N", type=seconds, default=60.0,
                        help="how long the exact search may take (default: 60)")
    deploy.add_argument("--profile", metavar="FILE", help="measured costs and rates, from `dfc calibrate`")
    deploy.add_argument("--master", metavar="URL", help="run the genetic searches on Spark: local[N], "
                                                        "spark://HOST:PORT, … (default: here, one after the other)")
    deploy.add_argument("-o", "--output", metavar="FILE", help="write the deployments as JSON, also when interrupted")
    deploy.add_argument("--resume", action="store_true", help="go on from what -o FILE already has")


def _add_simulate(commands) -> None:
    simulate = _add(commands, "simulate", "say what throughput and latency would be with more cores, and how "
                    "controllers would do", program=True, json="the figures as JSON instead of tables",
                    epilog="Without --rates every pattern is played for 1 to N workers, or the one that --pattern "
                    "says. With --rates the controllers that programs run are played against a load that changes: "
                    "dfc simulate app.dfl --rates walk.txt --cores 12 --policy mpc,rule,static --seeds 25")
    simulate.add_argument("--keys", metavar="uniform|SHARE|zipf:S|FILE", type=keys,
                          help="how keys are distributed: evenly, with this share for the heaviest one, by Zipf's law, "
                               "or as a file tells (the last two with --rates)")
    simulate.add_argument("--rate", metavar="N", type=rate, help="tuples a second (300k/s) at which latency is told")
    _add_asked(simulate)
    under = simulate.add_argument_group("under a load that changes")
    under.add_argument("--rates", metavar="FILE", help="tuples a second for every second: a rate a line, or the number "
                                                       "of seconds and then `second rate`")
    under.add_argument("--policy", metavar="LIST", help="policies to compare (default: the program's own)")
    under.add_argument("--set", dest="sweeps", metavar="NAME=VALUE[,VALUE]", action="append", default=[], type=sweep,
                       help="a parameter of policy, controller or run, such as gamma=0,0.4 or step=4s or goal=2ms; "
                            "several values are compared; can be given many times")
    under.add_argument("--seeds", metavar="N", type=seed_count, help="runs of each, with other arrivals (default: 5)")
    _add_service(under)
    under.add_argument("--jobs", metavar="N", type=small_count, help="processes (default: as many as there are cores)")
    under.add_argument("-o", "--output", metavar="DIR", help="also write pictures and the runs of the first seed there")


def _add_building_commands(commands) -> None:
    compile_ = _add(commands, "compile", "write C and build the native program", program=True)
    compile_.add_argument("-o", "--output", metavar="DIR", help="the folder to write to (default: build)")
    compile_.add_argument("--target", choices=("portable", "native"), default="portable",
                          help="any machine of this architecture, or this one (default: portable)")
    compile_.add_argument("--emit", metavar="LIST", help="only these of ast,graph,plan,c,header,control,lib,exe; "
                                                         "header is the one for programs that embed this one; "
                                                         "texts alone go to stdout unless -o is given")
    compile_.add_argument("--amalgamate", action="store_true", help="write the runtime as one file, dfrt.c with dfrt.h")
    compile_.add_argument("--print-outputs", action="store_true", help="print what would be written; build nothing")
    _add_asked(compile_)
    _add_plan(compile_)
    run = _add(commands, "run", "compile a program and run it", program=True,
               epilog="Words after `--` go to the program: dfc run app.dfl -- --stats")
    run.add_argument("--workers", metavar="N", type=small_count, help="how many workers a parallel operator has")
    run.add_argument("--target", choices=("native", "portable"), default="native",
                     help="this machine, or any of its architecture (default: native)")
    _add_engine(run)
    run.add_argument("--master", metavar="URL",
                     help="where Spark runs: local[N], spark://HOST:PORT, … (default: local[*])")
    _add_stream(run)
    run.add_argument("--log", metavar="DIR", help="write every decision and the summary there, for `dfc report DIR`")
    _add_asked(run)
    _add_plan(run)
    calibrate = _add(commands, "calibrate", "measure what a program's steps cost on this machine", program=True,
                     epilog="Words after `--` go to the program: dfc calibrate app.dfl -- --source quotes=csv:day.csv")
    calibrate.add_argument("-o", "--output", metavar="FILE", help="the profile to write (default: APP.profile.json)")
    calibrate.add_argument("--seconds", metavar="N", type=seconds, default=10.0,
                           help="how long each run may last, of which there are up to 108 (default: 10)")
    run.add_argument("--interpret", action="store_true", help="run the reference interpreter instead (slow)")


def _add_watching_commands(commands) -> None:
    top = _add(commands, "top", "show a running program, live in the terminal")
    _add_socket(top)
    top.add_argument("--once", action="store_true", help="print one snapshot and end")
    top.add_argument("--interval", metavar="SECONDS", type=seconds, default=1.0,
                     help="time between two pictures (default: 1)")
    ctl = _add(commands, "ctl", "ask a running program something, or tell it what to do",
               epilog="Without words the program lists what it understands: dfc ctl build/app.sock workers OPERATOR 3")
    _add_socket(ctl)
    ctl.add_argument("words", nargs="*", metavar="WORD", help="the request")
    ctl.add_argument("--json", action="store_true", help="print the answer as one line of JSON")
    report = _add(commands, "report", "write one page about a run: rate, degree, latency, decisions and their reasons")
    report.add_argument("run", metavar="RUN", help="a folder with decision logs, as `dfc run --log` makes, or one log")
    report.add_argument("-o", "--output", metavar="FILE", help="the page to write (default: report.html in the folder)")
    report.add_argument("--picture", metavar="FILE.svg", type=svg_file, help="the curves alone, as a picture")
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
    generate.add_argument("--seed", metavar="N", type=seed, help="equal seeds give equal files (default: 1)")


def _add_trace_commands(commands) -> None:
    ingest = _add(commands, "ingest", "turn event files and logs of a program into typed Parquet, with Spark")
    ingest.add_argument("files", nargs="+", metavar="FILE",
                        help="FILE.csv, .jsonl, .parquet, a decision log, a summary of --stats, or a folder of such")
    ingest.add_argument("-o", "--output", metavar="DIR", required=True,
                        help="the folder of traces; what it has is kept")
    ingest.add_argument("--source", dest="sources", metavar="NAME=PATTERN", action="append", default=[],
                        type=source_files,
                        help="files of which source (default: by their columns); can be given many times")
    ingest.add_argument("--quarantine", metavar="DIR",
                        help="where rows go that are none (default: quarantine in the folder)")
    _add_spark(ingest)
    profile = _add(commands, "profile", "learn rates, keys, disorder, seasons and costs from traces, with Spark")
    profile.add_argument("traces", metavar="DIR", help="a folder that `dfc ingest` made")
    profile.add_argument("-o", "--output", metavar="FILE", help="the profile to write (default: APP.profile.json)")
    profile.add_argument("--page", metavar="FILE.html", help="the page of plots (default: beside the profile)")
    profile.add_argument("--picture", metavar="FILE.svg", type=svg_file,
                         help="the rates of the first source alone, as a picture")
    profile.add_argument("--costs", metavar="FILE", help="a profile of `dfc calibrate` whose costs are taken over")
    _add_spark(profile)
    _add_optimize(commands)


def _add_optimize(commands) -> None:
    optimize = _add(commands, "optimize", "search for the plan and the controller that do best under the recorded load",
                    program=True, epilog="The plan goes to `dfc compile --plan`, why it was taken stands on the page. "
                    "Ctrl-C keeps what was found.")
    optimize.add_argument("--profile", metavar="FILE", required=True,
                          help="with the rates to play, from `dfc profile`")
    optimize.add_argument("-o", "--output", metavar="FILE", help="the plan to write (default: APP.plan.json)")
    optimize.add_argument("--page", metavar="FILE.html", help="the page that shows why (default: beside the plan)")
    optimize.add_argument("--picture", metavar="FILE.svg", type=svg_file,
                          help="the trade-off front alone, as a picture")
    optimize.add_argument("--cores", metavar="N", type=small_count,
                          help="cores to plan for (default: those of `resources`, else of this machine)")
    optimize.add_argument("--policy", metavar="LIST", help="policies to try (default: all that fit)")
    optimize.add_argument("--budget", metavar="N", type=seed_count, default=240,
                          help="runs of the simulator (default: 240)")
    optimize.add_argument("--seeds", metavar="N", type=small_count, default=5,
                          help="runs, with other arrivals, that candidates are compared by (default: 5)")
    optimize.add_argument("--seed", metavar="N", type=seed, default=1,
                          help="equal seeds give equal plans (default: 1)")
    optimize.add_argument("--seconds", metavar="N", type=seconds, default=600.0,
                          help="of a longer recording so many, the busiest, are played (default: 600)")
    _add_service(optimize)
    optimize.add_argument("--master", metavar="URL",
                          help="where Spark runs (default: local[*]); none: on this machine, without Spark")
    optimize.add_argument("--resume", action="store_true", help="go on with the search that was interrupted")
    _add_pattern(optimize)


def _add_service(parser) -> None:
    """What a trigger takes, where the user knows it better."""
    parser.add_argument("--service", metavar="[NAME=]TIME", action="append", default=[], type=service,
                        help="time a trigger takes at the highest frequency, of an operator or alternate (default: by "
                             "the profile or the cost model)")
    parser.add_argument("--service-cv", metavar="C", type=variation,
                        help="coefficient of variation of that time (default: 0.1)")
    parser.add_argument("--overhead", metavar="TIME", type=overhead,
                        help="what every result takes beside waiting and service, whatever the load (default: none)")


def _add_spark(parser) -> None:
    parser.add_argument("--program", metavar="PROGRAM.dfl", required=True, help="the program that the traces are of")
    parser.add_argument("-D", dest="defines", metavar="NAME=VALUE", action="append", default=[], type=definition,
                        help="set a `param` of the program; can be given many times")
    parser.add_argument("--master", metavar="URL", default="local[*]", help="where Spark runs (default: local[*])")
    parser.add_argument("--memory", metavar="SIZE", default="2g", help="of driver and executors (default: 2g)")


def _add_asked(parser) -> None:
    """What the choice of patterns goes by."""
    parser.add_argument("--cores", metavar="N", type=small_count,
                        help="cores to plan for (default: those of `resources`, else of this machine)")
    parser.add_argument("--profile", metavar="FILE",
                        help="measured costs, rates and keys, from `dfc calibrate` or `dfc profile`")
    _add_pattern(parser)


def _add_stream(parser) -> None:
    parser.add_argument("--stream", action="store_true",
                        help="with --engine spark: input that goes on, such as files that appear in a folder")
    parser.add_argument("--checkpoint", metavar="DIR",
                        help="where a stream keeps what it goes on from (default: APP.checkpoint)")
    parser.add_argument("--until", choices=("stopped", "empty", "end"),
                        help="a stream runs until it is stopped; until it has taken all there is; or that, and then it "
                             "ends: open windows come out (default: stopped)")
    parser.add_argument("--interval", metavar="SECONDS", type=seconds,
                        help="time from one micro-batch of a stream to the next (default: as soon as input comes)")


def _add_plan(parser) -> None:
    parser.add_argument("--plan", metavar="FILE",
                        help="patterns, degrees, alternates and controller from `dfc optimize`")


def _add_engine(parser) -> None:
    parser.add_argument("--engine", choices=("native", "spark"), default="native",
                        help="this machine, or Spark over the program's files (default: native)")


def _add_pattern(parser) -> None:
    parser.add_argument("--pattern", dest="patterns", metavar="OPERATOR=PATTERN[:N[,M]]", action="append", default=[],
                        help="force an operator's pattern; can be given many times")


def _add(commands, name: str, summary: str, program: bool | str = False, epilog: str | None = None, json: str = ""):
    """One command; those about a program share the file, the parameters and the form of diagnostics. `json`: what else
    `--json` prints as JSON."""
    sentence = f"{summary[0].upper()}{summary[1:]}."
    parser = commands.add_parser(name, help=summary, description=sentence, epilog=epilog, allow_abbrev=False)
    parser.set_defaults(module=_MODULES.get(name, name), json=False, defines=[])
    if program:
        how_many = {"many": {"nargs": "+"}, "one": {"nargs": "?"}}.get(program, {})
        words = {"metavar": "PROGRAM.dfl", **how_many}
        parser.add_argument("program", help="the program; - is stdin", **words)
        parser.add_argument("--json", action="store_true",
                            help=f"print {json}{', and ' * bool(json)}diagnostics as lines of JSON")
    if program and program != "many":
        parser.add_argument("-D", dest="defines", metavar="NAME=VALUE", action="append", default=[], type=definition,
                            help="set a `param` of the program; can be given many times")
    return parser
