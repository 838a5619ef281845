"""Every C identifier of a generated program is made here, readable in a profile and safe from injection.

Names of the language are plain ASCII words, so a name can only be wrong by meaning something to C already.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass, field

_KEYWORDS = frozenset("""auto break case char const continue default do double else enum extern float for goto if
inline int long register restrict return short signed sizeof static struct switch typedef union unsigned void
volatile while _Alignas _Alignof _Atomic _Bool _Complex _Generic _Imaginary _Noreturn _Static_assert _Thread_local
alignas alignof bool true false asm typeof linux unix errno stdin stdout stderr assert isnan isinf signbit
main complex imaginary noreturn static_assert thread_local sigaction stat environ offsetof setjmp""".split())


# What generated code calls its own parts; a step whose functions could be taken for one of them gets a prefix.
_OWN = re.compile(r"(segment|edge|symbol|source|sink|step)s?(_[0-9]+)?|read|end|fn|aggregate|alternates|head")
_UNDER = re.compile(r"(under)*_")


def identifier(word: str) -> str:
    """A field or function as C name: no two words give the same one.

    Words that C or a macro may own, and all-capital ones, get a `_` at the end, and so do words that end in one
    (`int` is `int_`, `int_` is `int__`); a `_` at the front, which C keeps for itself, becomes `under_`.
    """
    if _UNDER.match(word):
        word = f"under{word}"
    taken = word in _KEYWORDS or word.startswith("dfrt") or word.isupper() and len(word) > 1
    return f"{word}_" if taken or word.endswith("_") else word


# What the view of a window has beside its columns.
_OF_VIEWS = frozenset({"tuples", "times", "count", "start", "end", "key"})


def column(word: str) -> str:
    """A field as the column of a window: `count` is `count_`, since `count` says how many there are."""
    return f"{word}_" if word in _OF_VIEWS else identifier(word)


def parameter(word: str) -> str:
    """A parameter of a function of the program: never a type, a macro or a variable of generated code."""
    return f"a_{word}"


def source_function(verb: str, source: str, roles: Collection[str]) -> str:
    """What does something with a source: `push_quotes`.

    `x_push_poll` is `poll` of an app `x_push`, which may be in the same executable: the push of a source `poll` of the
    app `x` is `x_push_poll_`. There is a `_` for each way to read it as a function of an app of a longer name.
    """
    words = source.split("_")
    rests = ["_".join(words[at:]) for at in range(len(words))]
    ways = [rest for rest in rests if rest in roles or rest.startswith(("push_", "part_", "end_"))]
    return f"{verb}_{source}" + "_" * len(ways)


@dataclass
class Names:
    """Unique names for the steps of one program: `minutes.1` becomes `minutes_1`."""

    app: str
    records: frozenset[str] = frozenset()    # of the program, whose structs are named after them
    functions: frozenset[str] = frozenset()  # of the user's C
    _taken: dict[str, str] = field(default_factory=dict)
    _structs: dict[tuple[str, str], str] = field(default_factory=dict)

    def step(self, name: str) -> str:
        if name not in self._taken:
            plain = wanted = _plain(name)
            number = len(self._taken)
            while self._meets_another(wanted):
                wanted = f"s{number}_{plain}"
                number += 1
            self._taken[name] = wanted
        return self._taken[name]

    def _meets_another(self, wanted: str) -> bool:
        """`win` has a function `win_group_close`: a step `win_group` must not. No part's name begins with a digit."""
        used = (*self._taken.values(), identifier(self.app))
        return bool(_OWN.fullmatch(wanted)) or any(_may_meet(one, wanted) or _may_meet(wanted, one) for one in used)

    def record(self, name: str) -> str:
        return f"{identifier(self.app)}_{name}"

    def window_view(self, step: str) -> str:
        return self._struct(step, "window")

    def columns_view(self, step: str, alternate: str) -> str:
        return self._struct(step, f"{alternate}_columns")

    def panes_view(self, step: str) -> str:
        return self._struct(step, "panes")

    def state(self, step: str) -> str:
        return self._struct(step, "state")

    def shared(self, first: str) -> str:
        """What this window and others share."""
        return f"{self.step(first)}_shared"

    def ports(self, step: str) -> str:
        return self._struct(step, "outputs")

    def _struct(self, step: str, what: str) -> str:
        """A struct of the header, named after what the program calls the step. Beside a record `win_window` the view
        of `win` is `win_window_`."""
        if (step, what) not in self._structs:
            wanted = f"{identifier(self.app)}_{_plain(step)}_{what}"
            used = {*map(self.record, self.records), *self.functions, *self._structs.values()}
            while wanted in used:
                wanted += "_"
            self._structs[step, what] = wanted
        return self._structs[step, what]

    @property
    def program(self) -> str:
        return f"dfc_program_{identifier(self.app)}"


def _plain(step: str) -> str:
    return identifier(step.replace(".", "_"))


def _may_meet(short: str, long: str) -> bool:
    rest = long.removeprefix(short)
    return short == long or rest != long and rest.startswith("_") and not rest[1:2].isdigit()


def c_string(text: str) -> str:
    """A C string literal. Everything but letters, digits and harmless signs is an octal escape, so that no
    text of a program can end the literal, continue the line or form a trigraph."""
    harmless = set(b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789 _-+./:,;=<>()[]{}|&*!@#^~'")
    return '"' + "".join(chr(b) if b in harmless else f"\\{b:03o}" for b in text.encode()) + '"'
