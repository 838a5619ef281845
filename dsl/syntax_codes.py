"""The codes of syntax errors, E0001 to E0099, with an example of each."""

from __future__ import annotations

from .codes import Code

SYNTAX_CODES: dict[str, Code] = {
    "E0001": Code(
        "unexpected text",
        "The declaration can't go on with what stands here. The message lists what could stand in its place.",
        "stream s = route.good.left",
        "stream s = route.good"),
    "E0002": Code(
        "no declaration",
        "A program is a sequence of declarations, and each opens with one of these words: app, use, import, "
        "param, record, fn, aggregate, source, stream, split, operator, sink, goal, minimize, control, "
        "resources, cloud.",
        "steam big = trades",
        "stream big = trades"),
    "E0003": Code(
        "misspelt word",
        "The word is not known at this place, but it is close to one that is.",
        "stream big = trades |> fliter size > 500",
        "stream big = trades |> filter size > 500"),
    "E0004": Code(
        "foreign character",
        "The character has no meaning outside of strings and comments. Names consist of the letters a-z and "
        "A-Z, digits and `_`.",
        "stream größe = trades",
        "stream groesse = trades"),
    "E0005": Code(
        "string not closed",
        "A string ends on the line where it began. A line break inside of it is written `\\n`.",
        'import "other.dfl',
        'import "other.dfl"'),
    "E0006": Code(
        "single quotes",
        "Strings stand in double quotes.",
        "import 'other.dfl'",
        'import "other.dfl"'),
    "E0007": Code(
        "bad text in a string",
        'The escapes are \\" \\\\ \\n \\t \\r and \\u{1F600}, a character by its number. A string must be valid '
        "UTF-8, so surrogates are refused.",
        'import "a\\qb.dfl"',
        'import "a\\\\qb.dfl"'),
    "E0008": Code(
        "number apart from its unit",
        "A literal with a unit is one word, without space: otherwise `300k / s`, a division, would be a rate.",
        "source q: Quote = csv(\"q.csv\") slack 200 ms",
        "source q: Quote = csv(\"q.csv\") slack 200ms"),
    "E0009": Code(
        "unknown unit",
        "Units of time are ns us ms s min h d; rates end in /s or /min with an optional k, M or G; frequencies "
        "are Hz kHz MHz GHz; sizes B KB MB GB KiB MiB GiB, and a size with /s is a bandwidth. k, M and G alone "
        "stand for thousands, millions and billions.",
        "source q: Quote = csv(\"q.csv\") slack 5sec",
        "source q: Quote = csv(\"q.csv\") slack 5s"),
    "E0010": Code(
        "no number",
        "Numbers are written `12`, `1_000`, `1.5`, `1e6` or `10k`. With k, M or G the number must be whole.",
        "param width: int = 0x10",
        "param width: int = 16"),
    "E0011": Code(
        "number out of range",
        "The number is larger than any type of the language can hold.",
        "param limit: f64 = 1e999",
        "param limit: f64 = 1e300"),
    "E0012": Code(
        "`=` and `==`",
        "`=` gives a meaning to a name, `==` compares.",
        'stream ibm = trades |> filter symbol = "IBM"',
        'stream ibm = trades |> filter symbol == "IBM"'),
    "E0013": Code(
        "operator of another language",
        "The logical operators are the words `and`, `or` and `not`.",
        "stream s = trades |> filter a > 1 && b > 1",
        "stream s = trades |> filter a > 1 and b > 1"),
    "E0014": Code(
        "semicolon",
        "Declarations and lines end without a mark.",
        "app shop;",
        "app shop"),
    "E0015": Code(
        "missing comma",
        "Commas stand between the items of a list; one after the last is allowed.",
        "stream s = trades |> map { ts price }",
        "stream s = trades |> map { ts, price }"),
    "E0016": Code(
        "bracket not closed",
        "A bracket is still open where the next declaration begins, the file ends, or something else can "
        "only follow when it is closed. The note shows where it was opened.",
        "record Trade { price: f64\nstream s = trades",
        "record Trade { price: f64 }\nstream s = trades"),
    "E0017": Code(
        "wrong mark",
        "One mark stands where another is needed: `:` between a field and its value, `=` between a name and "
        "its meaning, `|>` between stages, `->` before the record of a result.",
        "stream s = trades |> map { total = price }",
        "stream s = trades |> map { total: price }"),
    "E0018": Code(
        "missing mark",
        "Stages of a pipeline are joined by `|>`, a result follows `->`, a type or value follows `:`, and a "
        "meaning follows `=`.",
        "stream s = trades filter price > 1.0",
        "stream s = trades |> filter price > 1.0"),
    "E0019": Code(
        "chained comparison",
        "A comparison gives true or false, which has no order. Join two comparisons with `and`.",
        "stream s = trades |> filter 1 < size < 9",
        "stream s = trades |> filter 1 < size and size < 9"),
    "E0020": Code(
        "clause given twice",
        "Clauses stand in any order, each at most once.",
        'source q: Quote = csv("q.csv") slack 1s slack 2s',
        'source q: Quote = csv("q.csv") slack 1s'),
    "E0021": Code(
        "missing clause",
        "This construct means nothing without the clause.",
        "sink out = trades order free",
        'sink out = trades to csv("out.csv") order free'),
    "E0022": Code(
        "clause of another window",
        "`partial` belongs to count windows, `processing` to time and session windows; `slide` and `every "
        "tuple` to count and time windows, one of the two.",
        "stream s = trades |> window session gap 5s slide 1s",
        "stream s = trades |> window session gap 5s"),
    "E0023": Code(
        "nested too deeply",
        "Expressions may be nested 200 levels deep; each term of a sum is one, since `a + b + c` is `(a + b) + c`. "
        "Give a part a name of its own with `fn` or an earlier `map`.",
        "param a: int = " + "(" * 201 + "1" + ")" * 201,
        "param a: int = (1)"),
    "E0024": Code(
        "no body",
        'An implementation is a record `{ field: value, … }` or a C function `c("file.c", "name")`.',
        "operator o on s { alternate a = 1 }",
        'operator o on s { alternate a = c("a.c", "a") }'),
    "E0025": Code(
        "argument of a connector",
        "A connector takes at most one path, which comes first, and settings with their names.",
        'source q: Quote = csv("a.csv", "b.csv")',
        'source q: Quote = csv("a.csv")'),
    "E0026": Code(
        "reserved word as a name",
        "and, or, not, if, then, else, true and false can't be names. All other words can.",
        "record Rule { then: i32 }",
        "record Rule { then_: i32 }"),
    "E0027": Code(
        "`if` as an operand",
        "An `if` reaches as far as it can, so that it stands in parentheses when it is an operand.",
        "fn f(a: i64) -> i64 = 1 + if a > 0 then a else 0",
        "fn f(a: i64) -> i64 = 1 + (if a > 0 then a else 0)"),
    "E0028": Code(
        "no whole number in a type",
        "The size of a text or an array is a whole number.",
        "record Line { text: text<1.5> }",
        "record Line { text: text<2> }"),
    "E0029": Code(
        "declaration not complete",
        "The file ends, or the next declaration begins, in the middle of a declaration.",
        "stream s =",
        "stream s = trades"),
    "E0030": Code(
        "too many mistakes",
        "So many syntax errors were found that the rest is not shown.",
        "stream = trades\n" * 101,
        "stream s = trades"),
}
