"""The codes of connectors, goals, control and resources, E0400 to E0499, and the warnings, with examples."""

from __future__ import annotations

from .codes import Code

_SINK = 'sink out = quotes to csv("out.csv")'
_EXPIRING = """stream s = plain |> by symbol
  |> update { n: i64 = 0 } with { n: n + 1 } emit { symbol, n } expire after 10s
sink counted = s to csv("out.csv")
"""
_TOTAL = """aggregate total(x: f64) -> f64 associative commutative {
  state { s: f64 }
  lift { s: x }
  combine { s: left.s + right.s }
  lower s
}
"""

SETTING_CODES: dict[str, Code] = {
    "E0400": Code(
        "unknown setting",
        "The connector, policy, pattern or block has no setting of this name.",
        "control mpc { horizont: 2 }",
        "control mpc { horizon: 2 }"),
    "E0401": Code(
        "set twice",
        "Each setting stands once, and each operator has one control policy.",
        "control mpc { horizon: 2, horizon: 3 }",
        "control mpc { horizon: 3 }"),
    "E0402": Code(
        "wrong kind of value",
        "The setting takes another kind of value: a length of time, a rate, a number, one of some words.",
        "control mpc { forecast: holt_winter }",
        "control mpc { forecast: holt_winters }"),
    "E0403": Code(
        "path or name",
        "Files need a path, generators have none, and a C function is called by its name in C.",
        "source q: Quote = csv() event time ts",
        'source q: Quote = csv("q.csv") event time ts'),
    "E0404": Code(
        "unknown connector",
        "Sources are csv, jsonl, lines, binary, tcp, unix and generate; sinks are csv, jsonl, binary, tcp, unix and "
        "discard.",
        'sink out = quotes to cvs("out.csv")',
        _SINK),
    "E0405": Code(
        "unknown policy",
        "Policies are off, auto, mpc, rule, threshold, spl, rl, static, alternates, pid and fuzzy.",
        "control mcp { horizon: 2 }",
        "control mpc { horizon: 2 }"),
    "E0406": Code(
        "unknown goal",
        "Goals are about latency (mean, p50 to p999, max), throughput and value.",
        "goal latency p98 <= 7ms",
        "goal latency p99 <= 7ms"),
    "E0407": Code(
        "goal in the wrong direction",
        "Latency is bounded from above, throughput and value from below.",
        "goal latency mean >= 7ms",
        "goal latency mean <= 7ms"),
    "E0408": Code(
        "nothing to minimise",
        "power, cores and cost can be minimised.",
        "minimize poewr",
        "minimize power"),
    "E0409": Code(
        "value out of bounds",
        "The number is outside of what makes sense for the setting, or a range goes from high to low.",
        "resources { cores: 12..1 }",
        "resources { cores: 1..12 }"),
    "E0410": Code(
        "no such operator or region",
        "`control for` names an operator or a stream, `latency` in a cloud two of its regions.",
        "control for quotes mpc { horizon: 2 }",
        "stream means = quotes |> window count 5 |> aggregate { x: avg(price) }\ncontrol for means mpc { horizon: 2 }"),
    "E0412": Code(
        "unknown pattern",
        "Patterns are auto, sequential, farm, key_partitioning, window_farming, pane_farming, "
        "window_partitioning and nesting.",
        "operator last on quotes window count 5 pattern window_farm { alternate a = { price: last(price) } }",
        "operator last on quotes window count 5 pattern window_farming { alternate a = { price: last(price) } }"),
    "E0413": Code(
        "connector in the wrong place",
        "A generator makes tuples; it can't take them.",
        "sink out = quotes to generate(count: 5)",
        _SINK),
    "E0414": Code(
        "number without a unit",
        "Lengths of time, rates, frequencies and sizes are written with their unit.",
        'source q: Quote = csv("q.csv") event time ts slack 200',
        'source q: Quote = csv("q.csv") event time ts slack 200ms'),
    "E0415": Code(
        "record of lines",
        "A line of text is one string, so the record has one field, of text<N> or symbol.",
        'source raw: Quote = lines("raw.txt")',
        'record Line { body: text<80> }\nsource raw: Line = lines("raw.txt")'),
    "E0416": Code(
        "listens beyond this machine",
        "A socket that listens takes a loopback address (127.0.0.1, [::1] or localhost), so that only this machine "
        "can reach it. `public: true` allows others.",
        'source q: Quote = tcp("0.0.0.0:9000", listen: true) event time ts',
        'source q: Quote = tcp("127.0.0.1:9000", listen: true) event time ts'),
    "E0417": Code(
        "no address",
        "tcp takes a host and a port; an IPv6 address stands in brackets.",
        'source q: Quote = tcp("localhost") event time ts',
        'source q: Quote = tcp("localhost:9000") event time ts'),
    "E0418": Code(
        "packed symbols over a socket",
        "A packed symbol is a number whose text stands in a second file, which a socket does not have.",
        'source q: Quote = tcp("localhost:9000", format: binary) event time ts',
        'source q: Quote = tcp("localhost:9000", format: jsonl) event time ts'),
    "E0419": Code(
        "standard input or output for two",
        "The path `-` is standard input or output. Two sources would each get a part of the input, cut anywhere, and "
        "two sinks would write into each other's rows, so that one source and one sink can have it.",
        'source a: Quote = csv("-") event time ts\nsource b: Quote = csv("-") event time ts',
        'source a: Quote = csv("-") event time ts\nsource b: Quote = csv("b.csv") event time ts'),
    "E0420": Code(
        "zero byte in a path",
        "The operating system ends a path at the first zero byte: another file would be read or written. This holds "
        "for connectors, imports, settings that name files, and files of C.",
        'sink out = quotes to csv("out\\u{0}.csv")',
        _SINK),
    "W0100": Code(
        "nothing reads it",
        "What no sink depends on has no effect.",
        "stream dear = quotes |> filter price > 3.0\n" + _SINK,
        "stream dear = quotes |> filter price > 3.0\n" + _SINK.replace("quotes", "dear")),
    "W0104": Code(
        "nothing to retry",
        "Only tcp and unix have a connection that can be lost and made again.",
        'source q: Quote = csv("q.csv") event time ts retry\n' + _SINK.replace("quotes", "q"),
        'source q: Quote = tcp("localhost:9000") event time ts retry\n' + _SINK.replace("quotes", "q")),
    "W0105": Code(
        "a limit on memory is not kept",
        "State belongs to keys and windows and moves with them: fewer workers would not need less of it, so that the "
        "controller has nothing to do about it. Let the system limit the memory of the program.",
        "resources { cores: 1..4, memory: 4GiB }\n" + _SINK,
        "resources { cores: 1..4 }\n" + _SINK),
    "W0106": Code(
        "a property that is not used",
        "Windows that slide are composed from panes, which needs `associative` and `commutative`, or computed from "
        "their tuples. Nothing is taken out of a state again, so that `invertible` says something true without effect.",
        _TOTAL.replace("commutative", "commutative invertible") + _SINK, _TOTAL + _SINK),
    "W0107": Code(
        "keys that never expire",
        "`expire after` goes by the watermark. A stream without event time has none, so that all keys are kept until "
        "the program ends.",
        'source plain: Quote = csv("plain.csv")\n' + _EXPIRING,
        'source plain: Quote = csv("plain.csv") event time ts\n' + _EXPIRING),
    "W0101": Code(
        "parameter never used",
        "The parameter has no effect.",
        "param limit: float = 3.0\n" + _SINK,
        "param limit: float = 3.0\n" + _SINK.replace("quotes", "quotes |> filter price > limit")),
    "W0102": Code(
        "no sink",
        "Results that reach no sink are not seen by anyone.",
        "stream dear = quotes |> filter price > 3.0",
        "stream dear = quotes |> filter price > 3.0\n" + _SINK.replace("quotes", "dear")),
    "W0103": Code(
        "literal does not fit",
        "The value is changed by the field it goes into: numbers wrap, text is cut.",
        "record Row { n: i8 }\nstream s = quotes |> map { n: 300 } -> Row\n" + _SINK.replace("quotes", "s"),
        "record Row { n: i16 }\nstream s = quotes |> map { n: 300 } -> Row\n" + _SINK.replace("quotes", "s")),
}
