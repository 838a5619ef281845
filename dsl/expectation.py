"""What was found and what was expected, in the words of the language."""

from __future__ import annotations

from collections.abc import Iterable

from .lexer import BAD, END, RESERVED, WORD, Lexeme, Vocabulary
from .suggest import listing

DECLARATIONS = ("app", "use", "import", "param", "record", "fn", "aggregate", "source", "stream", "split",
                "operator", "sink", "goal", "minimize", "control", "resources", "cloud")
COMPARISONS = frozenset(("EQ", "NE", "LT", "LE", "GT", "GE"))

_OPERATORS = COMPARISONS | {"PLUS", "MINUS", "STAR", "SLASH", "PERCENT", "AND", "OR"}
_EXPRESSION = frozenset((WORD, "NUMBER", "MEASURE", "STRING", "TRUE", "FALSE", "NOT", "IF", "MINUS"))
_OPENING = frozenset("([")
_LITERALS = {WORD: "a name", "NUMBER": "a number", "STRING": "a string in double quotes",
             "MEASURE": "a number with a unit"}


def found(lexeme: Lexeme) -> str:
    if lexeme.kind == END:
        return "the end of the file"
    text = lexeme.text if len(lexeme.text) <= 40 else lexeme.text[:39] + "…"
    if lexeme.kind == BAD and not text.isprintable():
        return f"the character U+{ord(text[0]):04X}"
    return f"the reserved word `{text}`" if lexeme.text in RESERVED else f"`{text}`"


def wanted(terminals: Iterable[str], vocabulary: Vocabulary) -> str:
    """`an expression, `|>` or `to``: what can stand here, the whole groups by their names."""
    names = set(terminals)
    phrases = []
    if "NUMBER" in names and WORD in names:
        phrases.append("an expression")
        names = {name for name in names - _EXPRESSION if vocabulary.spelling.get(name) not in _OPENING}
    if "STAR" in names:  # after an operand: an operator always fits, saying so helps only when little else does
        names -= _OPERATORS
        names = {name for name in names if vocabulary.spelling.get(name) not in {".", "[", "("}}
        if len(names) < 3:
            phrases.append("an operator")
    phrases += [phrase for name, phrase in _LITERALS.items() if name in names]
    phrases += sorted(f"`{vocabulary.spelling[name]}`" for name in names if name in vocabulary.spelling)
    if END in names:
        phrases.append("the next declaration")
    return listing(phrases)
