"""`dfc generate`: a file of made-up tuples for a source of a program, or a file of rates for a running one."""

from __future__ import annotations

import sys
from argparse import Namespace
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path

from dfc.compiler.failure import GOOD, Missing, Usage

from .checked import checked_program

_ENDINGS = {".csv": "csv", ".jsonl": "jsonl", ".bin": "binary", ".txt": "rates"}
_START_NS = 1_700_000_000 * 10**9


def run(args: Namespace) -> int:
    if find_spec("numpy") is None:
        raise Missing("dfc generate needs numpy: install it with `pip install dfc[embed]`")
    from dfc.compiler.generate.settings import WrongSetting
    from dfc.compiler.interpret import WrongFile

    try:
        return _run(args, _form(args))
    except (WrongSetting, WrongFile) as wrong:
        raise Usage(str(wrong)) from None
    except FileNotFoundError as missing:
        raise Usage(f"can't read {missing.filename}: {missing.strerror}") from None


def _form(args: Namespace) -> str:
    form = args.format or _ENDINGS.get(Path(args.output).suffix)
    if form is None:
        raise Usage(f"{args.output}: --format says what it is, or a name that ends in {', '.join(_ENDINGS)}")
    if form != "rates" and args.program is None:
        raise Usage("the program whose source the tuples are for is missing: dfc generate PROGRAM.dfl -o FILE")
    return form


def _run(args: Namespace, form: str) -> int:
    source = _source(args) if args.program else None
    declared = dict(source.body.connector.settings) if source and source.body.connector.kind == "generate" else {}
    arrivals = _arrivals(args, declared, source)
    if form == "rates":
        from dfc.compiler.build.write import write_file
        from dfc.compiler.generate.settings import seconds

        write_file(Path(args.output), arrivals.rates(seconds(args.every)).encode())
        return GOOD
    if arrivals.count is None and arrivals.seconds is None and arrivals.process.kind != "rates":
        raise Usage("how many? Give --count, --seconds, or a file of rates, which ends")
    _write(args, form, source, arrivals, declared)
    return GOOD


def _source(args: Namespace):
    """The source of the program that is meant: the named one, or the only one."""
    from dfc.dsl import typed

    sources = {step.name: step for step in checked_program(args).steps if isinstance(step.body, typed.Source)}
    if args.source is None and len(sources) == 1:
        return next(iter(sources.values()))
    if args.source not in sources:
        raise Usage(f"--source says for which: {', '.join(sources)}")
    return sources[args.source]


def _arrivals(args: Namespace, declared: dict, source):
    from dfc.compiler.generate import settings
    from dfc.compiler.generate.processes import Process, process
    from dfc.compiler.generate.write import Arrivals

    spacing = args.spacing
    if args.arrivals:
        chosen = process(args.arrivals)
        by_chance = chosen.by_chance
    else:
        chosen = Process("rates", {"path": declared["rates"]}) if "rates" in declared else \
            Process("constant", {"rate": float(declared.get("rate", 1e6))})
        by_chance = declared.get("arrivals") == "poisson"
    count = settings.amount(args.count) if args.count else declared.get("count")
    return Arrivals(chosen, spacing == "poisson" if spacing else by_chance, None if count is None else int(count),
                    settings.seconds(args.seconds) if args.seconds else None, _start(args, declared, source),
                    _seed(args, declared))


def _start(args: Namespace, declared: dict, source) -> int:
    from dfc.dsl.types import UNIT_NS

    start = args.start if args.start is not None else declared.get("start")
    if start is None:
        return _START_NS
    time = source and source.body.event_time
    return start * (UNIT_NS[source.record.field(time).type.unit] if time else 1)


def _seed(args: Namespace, declared: dict) -> int:
    return args.seed if args.seed is not None else declared.get("seed", 1)


def _write(args: Namespace, form: str, source, arrivals, declared: dict) -> None:
    from dfc.compiler.generate.delays import Delays, delays
    from dfc.compiler.generate.fields import Recipe, check_keys, parse_range
    from dfc.compiler.generate.rows import Names, has_symbols, symbols
    from dfc.compiler.generate.write import write_tuples

    late = delays(args.delay) if args.delay else \
        Delays("uniform", {"most": declared["disorder"] / 1e9, "share": 1.0}) if declared.get("disorder") else None
    ranges = {name: value for name, value in declared.items() if isinstance(value, tuple)}
    ranges |= dict(parse_range(source.record, source.body.event_time, word) for word in args.ranges)
    recipe = Recipe(source.record, source.body.event_time, _keys(args, declared), ranges, _seed(args, declared),
                    late is not None)
    check_keys(recipe)
    names, beside = Names(recipe.keys.count), form == "binary" and has_symbols(recipe.columns)
    if beside and args.output == "-":
        raise Usage("packed symbols need a second file: give a path instead of -")
    with _file(args.output) as write:
        made = write_tuples(arrivals, recipe, late, form, write, names)
    if beside:
        with _file(f"{args.output}.symbols") as write:
            write(symbols(names))
    print(f"{args.output}: {made:,} tuples", file=sys.stderr)


def _keys(args: Namespace, declared: dict):
    from dfc.compiler.generate.keys import by_weights, keys, uniform_or_zipf
    from dfc.compiler.interpret.arrivals import read_weights

    if args.keys:
        return keys(args.keys)
    if "weights" in declared:
        return by_weights(read_weights(Path(declared["weights"])))
    return uniform_or_zipf(declared.get("keys", 1000), float(declared.get("zipf", 0.0)))


@contextmanager
def _file(path: str) -> Iterator:
    """What writes into a file that is there when all of it is; `-` is standard output."""
    if path == "-":
        yield sys.stdout.buffer.write
        sys.stdout.buffer.flush()
        return
    from dfc.compiler.build.write import writing

    with writing(Path(path)) as write:
        yield write
