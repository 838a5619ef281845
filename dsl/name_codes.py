"""The codes of names and files, E0100 to E0199, with an example of each."""

from __future__ import annotations

from .codes import Code

NAME_CODES: dict[str, Code] = {
    "E0100": Code(
        "unknown field",
        "The name is no field of the stream at hand, and no parameter of the program.",
        "stream dear = quotes |> filter prise > 3.0",
        "stream dear = quotes |> filter price > 3.0"),
    "E0101": Code(
        "unknown stream",
        "No source, stream, operator, outlet or late stream has this name. Streams may be used before the line "
        "that declares them.",
        "stream dear = qoutes |> filter price > 3.0",
        "stream dear = quotes |> filter price > 3.0"),
    "E0102": Code(
        "unknown type or record",
        "Types are i8 to i64, u8 to u64, f32, f64, bool, symbol, text<N>, timestamp<unit>, duration<unit> and "
        "arrays of them; records are those that the program declares.",
        "record Trade { price: float64 }",
        "record Trade { price: f64 }"),
    "E0103": Code(
        "unknown function",
        "The program declares no such function, and there is no built-in one of this name.",
        "stream roots = quotes |> map { root: sqroot(price) }",
        "stream roots = quotes |> map { root: sqrt(price) }"),
    "E0104": Code(
        "name declared twice",
        "Sources, streams, outlets, late streams, operators and sinks share one set of names; records, "
        "parameters and functions have a set each. Parts of a state may not be called like a field.",
        "stream quotes = quotes |> filter price > 3.0",
        "stream dear = quotes |> filter price > 3.0"),
    "E0105": Code(
        "unknown parameter on the command line",
        "`-D name=value` sets a parameter that the program declares with `param`.",
        "// dfc check -D widht=5\nparam width: int = 10",
        "// dfc check -D width=5\nparam width: int = 10"),
    "E0106": Code(
        "bad value on the command line",
        "The value after `-D name=` is read as a literal of the parameter's type.",
        "// dfc check -D width=five\nparam width: int = 10",
        "// dfc check -D width=5\nparam width: int = 10"),
    "E0107": Code(
        "file to import not found",
        "The path of an import is relative to the file that imports. The file must be text in UTF-8.",
        'import "othre.dfl"',
        'import "other.dfl"'),
    "E0108": Code(
        "files import each other",
        "A file can't need itself. Move what both files need into a third.",
        'import "program.dfl"',
        'import "other.dfl"'),
    "E0109": Code(
        "unknown module",
        "`use` takes a module of the standard library or of a folder that the compiler was told about.",
        "use std.txt",
        "use std.text"),
    "E0110": Code(
        "module not in use",
        "Some functions belong to a module; `use` makes them known.",
        "stream small = quotes |> map { name: lower(symbol) }",
        "use std.text\nstream small = quotes |> map { name: lower(symbol) }"),
    "E0111": Code(
        "streams in a circle",
        "A stream is made from its inputs; it can't be one of them, not even through others.",
        "stream a = b |> filter price > 1.0\nstream b = a |> filter price < 9.0",
        "stream a = quotes |> filter price > 1.0\nstream b = a |> filter price < 9.0"),
    "E0112": Code(
        "name given twice",
        "A field, key, parameter, port or alternate stands once.",
        "stream s = quotes |> map { price, price: price * 2.0 }",
        "stream s = quotes |> map { price, twice: price * 2.0 }"),
    "E0113": Code(
        "field of both inputs",
        "In the body of a join a name that both inputs have needs the stream before it.",
        "stream other = quotes\n"
        "stream pairs = quotes |> join other by symbol within 5s { symbol: quotes.symbol, price }",
        "stream other = quotes\n"
        "stream pairs = quotes |> join other by symbol within 5s { symbol: quotes.symbol, price: other.price }"),
    "E0114": Code(
        "function calls itself",
        "Functions are put in place where they are called, so there is no recursion.",
        "fn half(x: f64) -> f64 = if x < 1.0 then x else half(x / 2.0)",
        "fn half(x: f64) -> f64 = if x < 1.0 then x else x / 2.0"),
    "E0115": Code(
        "name of a built-in",
        "Built-in functions, aggregates and conversions keep their names.",
        "fn sqrt(x: f64) -> f64 = x / 2.0",
        "fn half(x: f64) -> f64 = x / 2.0"),
    "E0116": Code(
        "sink used as a stream",
        "What goes into a sink does not come out. Read the stream that the sink takes.",
        'sink out = quotes to csv("out.csv")\nstream dear = out |> filter price > 3.0',
        'sink out = quotes to csv("out.csv")\nstream dear = quotes |> filter price > 3.0'),
    "E0118": Code(
        "port of an operator",
        "An operator with several named outputs is used as `operator.port`; one with a single output by its name.",
        'operator route on quotes -> { good: Quote, bad: Quote } { alternate x = c("route.c", "route") }\n'
        'sink out = route.godo to csv("out.csv")',
        'operator route on quotes -> { good: Quote, bad: Quote } { alternate x = c("route.c", "route") }\n'
        'sink out = route.good to csv("out.csv")'),
}
