"""Every C identifier of a generated program is made here, readable in a profile and safe from injection.

Names of the language are plain ASCII words, so a name can only be wrong by meaning something to C already.
"""

from __future__ import annotations

from dataclasses import dataclass, field

_KEYWORDS = frozenset("""auto break case char const continue default do double else enum extern float for goto if
inline int long register restrict return short signed sizeof static struct switch typedef union unsigned void
volatile while _Alignas _Alignof _Atomic _Bool _Complex _Generic _Imaginary _Noreturn _Static_assert _Thread_local
alignas alignof bool true false asm typeof linux unix errno stdin stdout stderr assert isnan isinf signbit
main complex imaginary noreturn static_assert thread_local sigaction stat environ offsetof setjmp""".split())


def identifier(word: str) -> str:
    """A field, step or parameter as C name. Words that C or a macro may own, and all-capital ones, get a `_`."""
    if word in _KEYWORDS or word.startswith(("_", "dfrt")) or word.isupper() and len(word) > 1:
        return f"{word}_" if not word.startswith("_") else f"x{word}"
    return word


@dataclass
class Names:
    """Unique names for the steps of one program: `minutes.1` becomes `minutes_1`."""

    app: str
    _taken: dict[str, str] = field(default_factory=dict)

    def step(self, name: str) -> str:
        if name not in self._taken:
            wanted = identifier(name.replace(".", "_"))
            used = set(self._taken.values())
            while wanted in used:
                wanted += "_"
            self._taken[name] = wanted
        return self._taken[name]

    def record(self, name: str) -> str:
        return f"{identifier(self.app)}_{name}"

    def window_view(self, step: str) -> str:
        return f"{identifier(self.app)}_{self.step(step)}_window"

    def state(self, step: str) -> str:
        return f"{identifier(self.app)}_{self.step(step)}_state"

    def ports(self, step: str) -> str:
        return f"{identifier(self.app)}_{self.step(step)}_outputs"

    @property
    def program(self) -> str:
        return f"{identifier(self.app)}_program"


def c_string(text: str) -> str:
    """A C string literal. Everything but letters, digits and harmless signs is an octal escape, so that no
    text of a program can end the literal, continue the line or form a trigraph."""
    harmless = set(b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789 _-+./:,;=<>()[]{}|&*!@#^~'")
    return '"' + "".join(chr(b) if b in harmless else f"\\{b:03o}" for b in text.encode()) + '"'
