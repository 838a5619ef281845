"""The codes of types and expressions, E0200 to E0299, with an example of each."""

from __future__ import annotations

from .codes import Code

TYPE_CODES: dict[str, Code] = {
    "E0200": Code(
        "operation not defined",
        "Arithmetic works on numbers; on times: timestamp ± duration, timestamp - timestamp, duration ± duration, "
        "and with whole numbers.",
        "stream s = quotes |> map { x: symbol + 1 }",
        "stream s = quotes |> map { x: size + 1 }"),
    "E0201": Code(
        "signed meets unsigned",
        "u64 holds values that no signed type holds, so the two don't mix. Say which one is meant: `u64(x)` or "
        "`i64(x)`. Smaller unsigned fields and literals that are not negative go with u64.",
        "stream s = quotes |> map { x: id + size }",
        "stream s = quotes |> map { x: id + u64(size) }"),
    "E0202": Code(
        "condition is not true or false",
        "`filter`, `if`, `when`, `and`, `or` and `not` need a bool; numbers are none.",
        "stream s = quotes |> filter size",
        "stream s = quotes |> filter size != 0"),
    "E0203": Code(
        "values of different types",
        "The branches of an `if`, the elements of an array and the arguments of least and greatest become one "
        "value, so they need a common type.",
        'stream s = quotes |> map { x: if size > 5 then price else "none" }',
        "stream s = quotes |> map { x: if size > 5 then price else 0.0 }"),
    "E0204": Code(
        "can't be compared",
        "Numbers compare with numbers, strings with strings, times with times of the same kind, and bools by == "
        "and !=.",
        "stream s = quotes |> filter symbol > 5",
        'stream s = quotes |> filter symbol > "A"'),
    "E0205": Code(
        "units of time differ",
        "Times of different units don't mix. Only a literal changes its unit by itself; a field is converted by "
        "storing it into a declared field of the other unit.",
        "record Pair { a: timestamp<ms>, b: timestamp<us> }\nsource pairs: Pair = csv(\"p.csv\")\n"
        "stream s = pairs |> filter a < b",
        "record Pair { a: timestamp<ms>, b: timestamp<ms> }\nsource pairs: Pair = csv(\"p.csv\")\n"
        "stream s = pairs |> filter a < b"),
    "E0206": Code(
        "no whole number of units",
        "The time of a stream counts whole units, here milliseconds; a shorter length can't be expressed in it.",
        "stream s = quotes |> window time 1us |> aggregate { n: count() }",
        "stream s = quotes |> window time 1ms |> aggregate { n: count() }"),
    "E0207": Code(
        "number of arguments",
        "The function takes more or fewer arguments.",
        "stream s = quotes |> map { x: pow(price) }",
        "stream s = quotes |> map { x: pow(price, 2.0) }"),
    "E0208": Code(
        "argument of the wrong type",
        "The argument does not go into the parameter. An argument is widened, never narrowed: write the conversion.",
        "stream s = quotes |> map { x: sqrt(symbol) }",
        "stream s = quotes |> map { x: sqrt(price) }"),
    "E0209": Code(
        "number out of range",
        "Whole numbers have 64 bits.",
        "stream s = quotes |> map { x: 99999999999999999999 }",
        "stream s = quotes |> map { x: 999999999999999999 }"),
    "E0210": Code(
        "value does not go into the field",
        "Numbers go into fields of numbers, strings into strings, times into times of the same kind.",
        "record Row { n: i32 }\nstream s = quotes |> map { n: symbol } -> Row",
        "record Row { n: i32 }\nstream s = quotes |> map { n: size } -> Row"),
    "E0211": Code(
        "field without a value",
        "A body that builds a declared record gives every field a value; only keys may be left out.",
        "record Row { n: i32, m: i32 }\nstream s = quotes |> map { n: size } -> Row",
        "record Row { n: i32, m: i32 }\nstream s = quotes |> map { n: size, m: 2 } -> Row"),
    "E0212": Code(
        "field that the record does not have",
        "A body that builds a declared record names only its fields.",
        "record Row { n: i32 }\nstream s = quotes |> map { n: size, m: 2 } -> Row",
        "record Row { n: i32 }\nstream s = quotes |> map { n: size } -> Row"),
    "E0213": Code(
        "unit in an expression",
        "Rates, frequencies, sizes and bandwidths stand in settings; expressions know numbers and times.",
        "stream s = quotes |> filter price > 300k/s",
        "stream s = quotes |> filter price > 300k"),
    "E0214": Code(
        "conversion not possible",
        "i8(x) to u64(x), f32(x) and f64(x) take numbers and times, symbol(x) takes strings.",
        "stream s = quotes |> map { x: i64(symbol) }",
        "stream s = quotes |> map { x: i64(price) }"),
    "E0215": Code(
        "elements of an array",
        "Only arrays have elements; they count from 0, by whole numbers.",
        "stream s = quotes |> map { x: price[0] }",
        "stream s = quotes |> map { a: [price, 0.0] } |> map { x: a[0] }"),
    "E0216": Code(
        "type not possible here",
        "A timestamp needs its unit, text its size, and a field holds a single value or an array of them.",
        "record Line { body: text }",
        "record Line { body: text<80> }"),
    "E0217": Code(
        "dot after what is no stream",
        "`stream.field` stands in the body of a join or broadcast, where there are two inputs. Elsewhere the "
        "field's name is enough.",
        "stream s = quotes |> filter quotes.price > 3.0",
        "stream s = quotes |> filter price > 3.0"),
}
