"""The codes of streams, windows and operators, E0300 to E0399, with an example of each."""

from __future__ import annotations

from .codes import Code

_UNTIMED = 'source plain: Quote = csv("plain.csv")\n'

STREAM_CODES: dict[str, Code] = {
    "E0300": Code(
        "aggregate without a window",
        "Aggregates take the tuples of a window. They stand in `aggregate`, `scan` and the bodies of operators "
        "with a window. For the smaller of two values there is least(a, b).",
        "stream s = quotes |> map { x: max(price, 1.0) }",
        "stream s = quotes |> map { x: greatest(price, 1.0) }"),
    "E0301": Code(
        "aggregates inside each other",
        "The argument of an aggregate is a value of one tuple. It may compare the tuple with an aggregate of the whole "
        "window, as `sum(if price > avg(price) then 1 else 0)` does; that one's argument may not, and a `scan` has no "
        "whole window.",
        "stream s = quotes |> window count 5 |> aggregate { x: max(price - avg(price - min(price))) }",
        "stream s = quotes |> window count 5 |> aggregate { x: max(price - avg(price)) }"),
    "E0302": Code(
        "field that is no key",
        "The result of a window stands for many tuples; only a key is the same in all of them. Take an aggregate of "
        "other fields, such as first(x) or last(x).",
        "stream s = quotes |> by symbol |> window count 5 |> aggregate { symbol, price }",
        "stream s = quotes |> by symbol |> window count 5 |> aggregate { symbol, price: last(price) }"),
    "E0303": Code(
        "aggregate needs a window",
        "`aggregate` gives one result a window. A running result, one a tuple, is `scan`.",
        "stream s = quotes |> by symbol |> aggregate { symbol, n: count() }",
        "stream s = quotes |> by symbol |> window count 5 |> aggregate { symbol, n: count() }"),
    "E0304": Code(
        "by or window without use",
        "`by` and `window` say how the aggregate, scan or update that follows them works.",
        "stream s = quotes |> by symbol |> filter price > 1.0",
        "stream s = quotes |> filter price > 1.0 |> by symbol |> scan { symbol, n: count() }"),
    "E0305": Code(
        "by or window twice",
        "One `by` names all keys; a result has one window.",
        "stream s = quotes |> by symbol |> by size |> scan { n: count() }",
        "stream s = quotes |> by symbol, size |> scan { n: count() }"),
    "E0306": Code(
        "no event time",
        "Windows over time, sessions and joins go by the event time of the tuples, which a source declares.",
        _UNTIMED + "stream s = plain |> window time 5s |> aggregate { n: count() }",
        _UNTIMED + "stream s = plain |> window count 5 |> aggregate { n: count() }"),
    "E0307": Code(
        "bounds of a window",
        "Only windows over time and sessions have window_start and window_end.",
        "stream s = quotes |> window count 5 |> aggregate { at: window_start, n: count() }",
        "stream s = quotes |> window time 5s |> aggregate { at: window_start, n: count() }"),
    "E0308": Code(
        "size not possible",
        "Sizes, slides and gaps are above zero, and lengths of time at most 2^59 units; counts are whole numbers.",
        "stream s = quotes |> window count 0 |> aggregate { n: count() }",
        "stream s = quotes |> window count 10 |> aggregate { n: count() }"),
    "E0309": Code(
        "not known when compiling",
        "Sizes, settings and values of parameters are literals, parameters, or arithmetic on them.",
        "stream s = quotes |> window count size |> aggregate { n: count() }",
        "param width: int = 10\nstream s = quotes |> window count width |> aggregate { n: count() }"),
    "E0310": Code(
        "union of different fields",
        "The streams of a union have the same fields with the same types.",
        "stream a = quotes |> map { price }\nstream b = quotes |> map { price: size }\nstream s = a |> union b",
        "stream a = quotes |> map { price }\nstream b = quotes |> map { price: f64(size) }\nstream s = a |> union b"),
    "E0311": Code(
        "different kinds of time",
        "The inputs of a union or join have event time of the same unit, or those of a union none at all.",
        _UNTIMED + "stream s = quotes |> union plain",
        _UNTIMED.replace('")\n', '") event time ts\n') + "stream s = quotes |> union plain"),
    "E0312": Code(
        "type of a key",
        "Keys are integers, bools, times, symbols or texts. Floats are none: NaN is not even equal to itself.",
        "stream s = quotes |> by price |> scan { price, n: count() }",
        "stream s = quotes |> by symbol |> scan { symbol, n: count() }"),
    "E0313": Code(
        "nothing to unroll",
        "flatmap makes a tuple of each element of a sequence, such as that of split.",
        "record Word { word: symbol }\nstream s = quotes |> flatmap symbol -> Word",
        'use std.text\nrecord Word { word: symbol }\nstream s = quotes |> flatmap split(symbol, " ") -> Word'),
    "E0314": Code(
        "record of flatmap",
        "Each element becomes the only field of the record after `->`.",
        'use std.text\nrecord Word { word: symbol, n: i64 }\nstream s = quotes |> flatmap split(symbol, " ") -> Word',
        'use std.text\nrecord Word { word: symbol }\nstream s = quotes |> flatmap split(symbol, " ") -> Word'),
    "E0315": Code(
        "keys of different types",
        "Both keys of a join have the same type.",
        "stream other = quotes\nstream s = quotes |> join other by symbol = size within 5s { a: quotes.price }",
        "stream other = quotes\nstream s = quotes |> join other by symbol = symbol within 5s { a: quotes.price }"),
    "E0316": Code(
        "two inputs of one name",
        "The body tells the inputs apart by their names, so they need two. `stream other = quotes` gives a second one.",
        "stream s = quotes |> join quotes by symbol within 5s { a: quotes.price }",
        "stream other = quotes\n"
        "stream s = quotes |> join other by symbol within 5s { a: quotes.price, b: other.price }"),
    "E0317": Code(
        "setting of an aggregate",
        "q of quantile is between 0 and 1, alpha of ewma above 0 and at most 1.",
        "stream s = quotes |> window count 5 |> aggregate { x: quantile(price, 95) }",
        "stream s = quotes |> window count 5 |> aggregate { x: quantile(price, 0.95) }"),
    "E0319": Code(
        "window where there is none",
        "scan and update go over all tuples of a key; a result a window is `aggregate`.",
        "stream s = quotes |> window count 5 |> scan { n: count() }",
        "stream s = quotes |> window count 5 |> aggregate { n: count() }"),
    "E0320": Code(
        "outlets after otherwise",
        "Outlets are tried in order; `otherwise` takes all that is left, so it is the last.",
        "split quotes into rest otherwise, dear when price > 9.0",
        "split quotes into dear when price > 9.0, rest otherwise"),
    "E0321": Code(
        "operator without a result",
        "An operator has at least one alternate, and one in C needs `-> Record` to say what it gives.",
        'operator guess on quotes window count 5 { alternate a = c("guess.c", "guess") }',
        'operator guess on quotes window count 5 -> Quote { alternate a = c("guess.c", "guess") }'),
    "E0322": Code(
        "ports without C",
        "Which port a tuple leaves by is decided in C. `split` divides a stream by conditions.",
        "operator route on quotes -> { good: Quote, bad: Quote } { alternate x = { price } }",
        'operator route on quotes -> { good: Quote, bad: Quote } { alternate x = c("route.c", "route") }'),
    "E0323": Code(
        "event time is a timestamp",
        "The field after `event time` has the type timestamp<unit>.",
        'source q: Quote = csv("q.csv") event time size',
        'source q: Quote = csv("q.csv") event time ts'),
    "E0324": Code(
        "clauses of a source",
        "A source has event time or processing time; slack and late tuples belong to event time.",
        'source q: Quote = csv("q.csv") slack 200ms',
        'source q: Quote = csv("q.csv") event time ts slack 200ms'),
    "E0327": Code(
        "order of keys without keys",
        "`order key` keeps the order of each key's results, so there must be keys.",
        "operator last on quotes window count 5 order key { alternate a = { price: last(price) } }",
        "operator last on quotes by symbol window count 5 order key { alternate a = { price: last(price) } }"),
    "E0328": Code(
        "columns without a window in C",
        "`columns` names the fields that a C function takes from the tuples of a window, each as an array. An "
        "alternate in the language names its fields itself, and a single tuple is passed whole.",
        "operator last on quotes window count 5 { alternate a columns price = { price: last(price) } }",
        'operator last on quotes window count 5 -> Quote { alternate a columns price = c("last.c", "last") }'),
    "E0329": Code(
        "panes without a window",
        'c("file.c", "pane", "merge") names two functions: one for the panes of a window, one that merges what those '
        "gave. Only an alternate of an operator with a window has panes.",
        'operator best on quotes -> Quote { alternate a = c("best.c", "best_pane", "best_merge") }',
        'operator best on quotes window count 9 slide 3 -> Quote '
        '{ alternate a = c("best.c", "best_pane", "best_merge") }'),
}
