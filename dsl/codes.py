"""What a code of a diagnostic means, for `dfc explain-code` and the documentation.

`CODES` has all of them: syntax (E00), names (E01), types (E02), streams (E03), settings (E04), warnings (W).
"""

from __future__ import annotations

from dataclasses import dataclass

# The lines that every example of E01 and later stands after.
PRELUDE = """\
record Quote { ts: timestamp<ms>, symbol: symbol, price: f64, size: i32, id: u64 }
source quotes: Quote = csv("quotes.csv") event time ts
"""


@dataclass(frozen=True, slots=True)
class Code:
    """`wrong` and `right` are tiny programs, or parts of one, that show the mistake and its cure.

    A first line `// dfc check -D name=value` says what the command line sets.
    """

    title: str
    explanation: str
    wrong: str
    right: str


def __getattr__(name: str) -> dict[str, Code]:
    """`CODES` is put together when it is asked for: the tables import `Code` from here."""
    if name != "CODES":
        raise AttributeError(name)
    from .name_codes import NAME_CODES
    from .setting_codes import SETTING_CODES
    from .stream_codes import STREAM_CODES
    from .syntax_errors import SYNTAX_CODES
    from .type_codes import TYPE_CODES

    return {**SYNTAX_CODES, **NAME_CODES, **TYPE_CODES, **STREAM_CODES, **SETTING_CODES}
