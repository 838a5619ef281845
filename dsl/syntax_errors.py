"""What is wrong where a declaration can't go on, and whether it can be mended.

`explain` asks the rules in turn, the most particular first. A rule that leaves no doubt about what was
meant gives the lexemes to read instead, so that one run reports many mistakes.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property

from .cursor import Cursor
from .diagnostics import Diagnostics, Note
from .expectation import COMPARISONS, DECLARATIONS, found, wanted
from .lexer import BAD, END, RESERVED, WORD, Lexeme, Vocabulary
from .literals import UNITS
from .span import Span
from .suggest import nearest
from .syntax_codes import SYNTAX_CODES

__all__ = ["MAX_MISTAKES", "SYNTAX_CODES", "Finding", "Place", "begins_next", "explain", "opens_declaration",
           "too_many"]

MAX_MISTAKES = 100

_SYNONYMS = {"where": "filter", "select": "map", "group": "by", "groupby": "by", "reduce": "aggregate",
             "fold": "aggregate", "struct": "record", "type": "record", "func": "fn", "def": "fn",
             "function": "fn", "let": "param", "const": "param", "include": "import"}
_OTHER_LANGUAGES = {"&&": "and", "||": "or", "!": "not"}
_UNIT_SYNONYMS = {"m": "min", "sec": "s", "secs": "s", "second": "s", "seconds": "s", "msec": "ms", "usec": "us",
                  "µs": "us", "mins": "min", "minute": "min", "minutes": "min", "hr": "h", "hour": "h",
                  "hours": "h", "day": "d", "days": "d", "K": "k", "b": "B", "kB": "KB", "ghz": "GHz", "mhz": "MHz"}
_MARKS = {"=": ("==", ":"), "==": ("=",), ":": ("=",), "|": ("|>",), ">": ("->",), "-": ("->",), ".": ("..",)}
_MISSING = (",", "|>", "->", ":", "=", ")", "]", "}")
_BRACKETS = {"(": ")", "[": "]", "{": "}"}


@dataclass(frozen=True)
class Place:
    """The lexeme that does not fit, at `position`, in the declaration that opened at `start`."""

    cursor: Cursor
    vocabulary: Vocabulary
    lexemes: list[Lexeme]
    start: int
    position: int
    file: str

    @property
    def here(self) -> Lexeme:
        return self.lexemes[self.position]

    @property
    def before(self) -> Lexeme | None:
        return self.lexemes[self.position - 1] if self.position > self.start else None

    @property
    def span(self) -> Span:
        return self.here.span(self.file)

    @property
    def gap(self) -> Span:
        """The place right behind the lexeme before, where something is missing."""
        last = self.before or self.here
        return Span(self.file, last.line, last.end_column, last.line, last.end_column + 1)

    @cached_property
    def expected(self) -> set[str]:
        return self.cursor.expected()

    def expected_words(self) -> list[str]:
        spelling = self.vocabulary.spelling
        return [spelling[name] for name in self.expected if spelling.get(name) in self.vocabulary.keywords]

    def spelled(self, text: str) -> Lexeme:
        """The lexeme here with another spelling."""
        kind = WORD if text in self.vocabulary.keywords else self.vocabulary.punctuation[text]
        return replace(self.here, kind=kind, text=text)

    def inserted(self, mark: str) -> Lexeme:
        """A mark that is missing, right behind the lexeme before."""
        last = self.before or self.here
        return replace(self.spelled(mark), line=last.line, column=last.end_column, first_on_line=False)

    def takes(self, text: str) -> bool:
        return self.cursor.takes(self.spelled(text))

    def goes_on(self, lexemes: Iterable[Lexeme]) -> bool:
        """Would all these fit, one after the other? As far as one can tell: not beyond the end of the file,
        nor beyond what is a mistake of its own."""
        cursor = self.cursor
        for lexeme in lexemes:
            if lexeme.kind in (END, BAD):
                return True
            if not cursor.takes(lexeme):
                return False
            cursor = cursor.after(lexeme)
        return True


@dataclass(frozen=True)
class Finding:
    """A diagnostic, and what to read in place of the lexeme here and `back` lexemes before it (None: give
    the declaration up)."""

    code: str
    span: Span
    message: str
    expected: str = ""
    fix: str = ""
    notes: tuple[Note, ...] = ()
    instead: tuple[Lexeme, ...] | None = None
    back: int = 0


def explain(place: Place) -> Finding:
    return next(finding for rule in _RULES if (finding := rule(place)))


def opens_declaration(lexeme: Lexeme) -> bool:
    return lexeme.kind == WORD and lexeme.text in DECLARATIONS


def begins_next(place: Place) -> bool:
    """Is the word here rather a misspelt declaration than a misspelt clause of this one?"""
    if not (place.here.kind == WORD and place.here.first_on_line):
        return False
    return nearest(place.here.text, (*DECLARATIONS, *place.expected_words())) in DECLARATIONS


def too_many(span: Span, diagnostics: Diagnostics) -> None:
    diagnostics.add("E0030", span, f"more than {MAX_MISTAKES} syntax errors; the rest is not shown")


# --- rules: what is no token at all -------------------------------------------------------------------


def _bad_string(place: Place) -> Finding | None:
    text = place.here.text
    if place.here.kind != BAD or text[0] not in "\"'":
        return None
    if text[0] == '"':
        return Finding("E0005", place.span, "this string is not closed on its line", expected='a closing `"`')
    if len(text) < 2 or text[-1] != "'":
        return Finding("E0006", place.span, "strings stand in double quotes", expected='`"…"`')
    fixed = '"' + text[1:-1].replace('"', '\\"') + '"'
    return Finding("E0006", place.span, "strings stand in double quotes", fix=fixed,
                   instead=_if_fits(place, replace(place.here, kind="STRING", text=fixed)))


def _bad_number(place: Place) -> Finding | None:
    text = place.here.text
    if place.here.kind != BAD or not text[0].isdigit():
        return None
    digits = len(text) - len(text.lstrip("0123456789_."))
    number, unit = text[:digits], text[digits:]
    zero = _if_fits(place, replace(place.here, kind="NUMBER", text="0"))
    if not unit or number.endswith((".", "_")) or number == "0":
        return Finding("E0010", place.span, f"{found(place.here)} is no number",
                       expected="a number such as `12`, `1_000`, `1.5` or `1e6`", instead=zero)
    if unit in place.vocabulary.keywords:
        return Finding("E0010", place.span, f"`{number}` and `{unit}` are two words", fix=f"{number} {unit}",
                       instead=_if_fits(place, replace(place.here, kind="NUMBER", text=number), place.spelled(unit)))
    near = _near_unit(unit)
    return Finding("E0009", place.span, f"`{unit}` is no unit", fix=number + near if near else "",
                   expected="a unit of time (ns us ms s min h d), a rate (300k/s), a frequency (2GHz) "
                            "or a size (64MiB)",
                   instead=_if_fits(place, _measured(place.here, number, near)) if near else zero)


def _foreign_operator(place: Place) -> Finding | None:
    word = _OTHER_LANGUAGES.get(place.here.text)
    if not word or place.here.kind != BAD:
        return None
    return Finding("E0013", place.span, f"`{place.here.text}` is written `{word}`", fix=word,
                   instead=_if_fits(place, place.spelled(word)))


def _semicolon(place: Place) -> Finding | None:
    if place.here.text != ";":
        return None
    if place.takes(","):
        return Finding("E0014", place.span, "commas stand between the items of a list", fix=",",
                       instead=(place.spelled(","),))
    return Finding("E0014", place.span, "nothing ends with `;`", expected="no `;`: a line's end needs no mark",
                   instead=())


def _foreign_character(place: Place) -> Finding | None:
    text = place.here.text
    if place.here.kind != BAD or text in _MARKS:
        return None
    if text.isalnum():
        return Finding("E0004", place.span, f"{found(place.here)} is no name",
                       expected="a name of letters a-z, digits and `_`",
                       instead=_if_fits(place, replace(place.here, kind=WORD)))
    return Finding("E0004", place.span, f"{found(place.here)} does not belong to the language")


# --- rules: words -------------------------------------------------------------------------------------


def _no_declaration(place: Place) -> Finding | None:
    if place.position > place.start:
        return None
    word = place.here.text
    near = _SYNONYMS.get(word) or nearest(word, DECLARATIONS) if place.here.kind == WORD else ""
    near = near if near in DECLARATIONS else ""
    return Finding("E0002", place.span, f"{found(place.here)} opens no declaration", fix=near,
                   expected="a declaration: " + ", ".join(DECLARATIONS),
                   instead=(place.spelled(near),) if near else None)


def _unit_apart(place: Place) -> Finding | None:
    number, unit = place.before, place.here
    if not number or number.kind != "NUMBER" or unit.kind != WORD or unit.first_on_line:
        return None
    near = unit.text if unit.text in UNITS else _UNIT_SYNONYMS.get(unit.text)
    if not near:
        return None
    measured = _measured(number, number.text, near)
    return Finding("E0008", number.span(place.file).to(place.span), "a number and its unit are one word",
                   fix=measured.text, instead=(measured,), back=1)


def _misspelt(place: Place) -> Finding | None:
    word, words = place.here.text, place.expected_words()
    if place.here.kind != WORD or word in RESERVED or _first_word(place.here):
        return None
    near = _SYNONYMS.get(word) if _SYNONYMS.get(word) in words else nearest(word, words)
    if not near:
        return None
    return Finding("E0003", place.span, f"{found(place.here)} is not known here", fix=near,
                   expected=wanted(place.expected, place.vocabulary), instead=(place.spelled(near),))


def _reserved(place: Place) -> Finding | None:
    if place.here.text not in RESERVED or WORD not in place.expected:
        return None
    if place.here.text == "if" and "NUMBER" in place.expected:
        return Finding("E0027", place.span, "an `if` that is an operand stands in parentheses",
                       expected="`(if … then … else …)`")
    return Finding("E0026", place.span, f"{found(place.here)} can't be a name", fix=place.here.text + "_",
                   expected=wanted(place.expected, place.vocabulary),
                   instead=(replace(place.here, text=place.here.text + "_"),))


# --- rules: marks -------------------------------------------------------------------------------------


def _wrong_mark(place: Place) -> Finding | None:
    for mark in _MARKS.get(place.here.text, ()):
        if place.goes_on((place.spelled(mark), *place.lexemes[place.position + 1:place.position + 3])):
            code = "E0012" if {place.here.text, mark} == {"=", "=="} else "E0017"
            return Finding(code, place.span, f"`{place.here.text}` stands where `{mark}` is needed", fix=mark,
                           instead=(place.spelled(mark),))
    return None


def _chained_comparison(place: Place) -> Finding | None:
    if place.here.kind not in COMPARISONS or "AND" not in place.expected:
        return None
    return Finding("E0019", place.span, "comparisons do not chain", expected="`a < b and b < c`")


def _unfinished(place: Place) -> Finding | None:
    """The word that opens the next declaration was taken for a name, because this one is not complete."""
    if place.position - 1 <= place.start or not _first_word(place.before) or place.here.kind != WORD:
        return None
    span, opened = place.before.span(place.file), _open_bracket(place)
    if opened:
        return replace(_not_closed(place, opened), span=span, back=1)
    return Finding("E0029", span, "the declaration before this one is not complete", back=1,
                   notes=(Note("it begins here", place.lexemes[place.start].span(place.file)),))


def _unclosed(place: Place) -> Finding | None:
    """The end of the file, or the next declaration, inside of brackets."""
    opened = _open_bracket(place) if place.here.kind == END or _first_word(place.here) else None
    if not opened:
        return None
    finding, closing = _not_closed(place, opened), _BRACKETS[opened.text]
    return replace(finding, instead=(place.inserted(closing), place.here)) if place.takes(closing) else finding


def _not_closed(place: Place, opened: Lexeme) -> Finding:
    return Finding("E0016", place.gap, f"`{opened.text}` is not closed", expected=f"`{_BRACKETS[opened.text]}`",
                   notes=(Note(f"`{opened.text}` is opened here", opened.span(place.file)),))


def _missing(place: Place) -> Finding | None:
    for mark in _MISSING:
        if place.goes_on((place.spelled(mark), place.here)):
            code = "E0015" if mark == "," else "E0016" if mark in _BRACKETS.values() else "E0018"
            return Finding(code, place.gap, f"`{mark}` is missing before {found(place.here)}", expected=f"`{mark}`",
                           instead=(place.inserted(mark), place.here))
    return None


def _ended(place: Place) -> Finding | None:
    if place.here.kind != END:
        return None
    return Finding("E0029", place.gap, "the file ends in the middle of a declaration",
                   expected=wanted(place.expected, place.vocabulary))


def _unexpected(place: Place) -> Finding:
    behind = f" after `{place.before.text}`" if place.before and len(place.before.text) < 30 else ""
    return Finding("E0001", place.span, f"{found(place.here)} does not fit{behind}",
                   expected=wanted(place.expected, place.vocabulary))


_RULES = (_bad_string, _bad_number, _foreign_operator, _semicolon, _foreign_character, _no_declaration, _unit_apart,
          _unfinished, _unclosed, _wrong_mark, _chained_comparison, _missing, _misspelt, _reserved, _ended, _unexpected)


def _if_fits(place: Place, *lexemes: Lexeme) -> tuple[Lexeme, ...] | None:
    return lexemes if place.goes_on(lexemes) else None


def _near_unit(unit: str) -> str:
    return _UNIT_SYNONYMS.get(unit) or nearest(unit, (*UNITS, "k", "M", "G"))


def _measured(number: Lexeme, digits: str, unit: str) -> Lexeme:
    return replace(number, kind="MEASURE" if unit in UNITS else "NUMBER", text=digits + unit)


def _first_word(lexeme: Lexeme) -> bool:
    return lexeme.first_on_line and opens_declaration(lexeme)


def _open_bracket(place: Place) -> Lexeme | None:
    """The innermost bracket of the declaration that is still open."""
    opened: list[Lexeme] = []
    for lexeme in place.lexemes[place.start:place.position]:
        if lexeme.text in _BRACKETS:
            opened.append(lexeme)
        elif opened and lexeme.text == _BRACKETS[opened[-1].text]:
            opened.pop()
    return opened[-1] if opened else None
