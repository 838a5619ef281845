"""`dfc simulate`: what the patterns would give with more cores than this machine has; with --rates, how the controllers
would do under a load that changes."""

from __future__ import annotations

import json
import sys
from argparse import Namespace

from dfc.compiler.failure import GOOD, Missing, Usage

from .asked import asked
from .program_text import read_program
from .report import report

_HINT = "-o FOLDER writes pictures of these runs and their decision logs, which `dfc report` reads"


def run(args: Namespace) -> int:
    if args.rates is None:
        _refuse_words_of_rates(args)
    elif args.rate is not None:
        raise Usage("--rate and --rates exclude each other: --rates tells the rate of every second")
    elif args.patterns:
        raise Usage("--pattern and --rates exclude each other: controllers change the workers of farms and of key "
                    "partitioning")
    text, file = read_program(args)
    from dfc.compiler import pipeline
    from dfc.dsl.diagnostics import Diagnostics

    diagnostics = Diagnostics()
    graph = pipeline.flow(pipeline.check(text, file, dict(args.defines), diagnostics))
    found = _patterns(graph, args) if args.rates is None else _controlled(graph, args)
    sys.stdout.write(found)
    return GOOD if args.json else report(diagnostics, args)


def _refuse_words_of_rates(args: Namespace) -> None:
    given = {"--policy": args.policy, "--seeds": args.seeds, "--set": args.sweeps, "--service": args.service,
             "--service-cv": args.service_cv, "--overhead": args.overhead, "--output": args.output, "--jobs": args.jobs}
    for name, value in given.items():
        if value:
            raise Usage(f"{name} needs --rates FILE: how many tuples come in each second")
    if args.keys is not None and args.keys != "uniform" and not _is_number(args.keys):
        raise Usage(f"--keys {args.keys} needs --rates FILE; without it, keys are uniform or a share between 0 and 1")


def _is_number(word: str) -> bool:
    try:
        float(word)
    except ValueError:
        return False
    return True


def _patterns(graph, args: Namespace) -> str:
    from dfc.compiler.select.asked import request_of
    from dfc.compiler.simulate.program import simulate, to_text

    found = simulate(graph, request_of(graph.program, asked(args)), args.keys, args.rate)
    return json.dumps(found, indent=2, ensure_ascii=False) + "\n" if args.json else to_text(found)


def _controlled(graph, args: Namespace) -> str:
    from dfc.compiler.codegen.control import control_configuration
    from dfc.compiler.select.asked import request_of
    from dfc.compiler.select.choose import choose

    try:
        from dfc.compiler.simulate.experiment import Experiment, run_experiment, teller
    except ModuleNotFoundError as error:
        if error.name != "numpy":
            raise
        raise Missing("dfc simulate --rates needs numpy: install it with `pip install dfc[simulate]`") from None
    from dfc.compiler.simulate.control_library import open_controls
    from dfc.compiler.simulate.saso_table import to_data, to_text
    from dfc.compiler.simulate.scenario import SERVICE_CV, Workload, operators_of
    from dfc.compiler.simulate.variants import make_variants

    request = request_of(graph.program, asked(args))
    configuration = json.loads(control_configuration(graph, choose(graph)))
    service_cv = SERVICE_CV if args.service_cv is None else args.service_cv
    workload = Workload(args.rates, args.keys, dict(args.service), service_cv, args.overhead or 0.0)
    operators, assumed = operators_of(graph, request, workload, configuration["resources"])
    policies = [name for name in (args.policy or "").split(",") if name]
    first = operators[0]
    variants = make_variants(configuration, first.name, open_controls(), first.goals, policies, args.sweeps)
    changes = (configuration["manager"]["changes_a_step"], configuration["manager"]["most_changes"])
    experiment = Experiment(operators, variants, request.cores, changes=changes)
    seeds = args.seeds or 5
    results = run_experiment(experiment, seeds, args.jobs or 0, teller(graph.program.name))
    if args.output is not None:
        from dfc.compiler.simulate.pictures import write_pictures

        write_pictures(args.output, graph.program.name, experiment, results)
    if args.json:
        data = to_data(graph.program.name, experiment, results, seeds, assumed)
        return json.dumps(data, indent=2, ensure_ascii=False) + "\n"
    hint = "" if args.output else f"\n{_HINT}\n"
    return to_text(graph.program.name, experiment, results, seeds, assumed) + hint
