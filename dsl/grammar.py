"""The grammar, made ready once a process: the LALR tables come from a cache file of the user's own."""

from __future__ import annotations

import os
import stat
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from .lexer import Vocabulary

if TYPE_CHECKING:
    from lark import Lark


class Grammar(NamedTuple):
    lark: Lark
    vocabulary: Vocabulary
    token: type  # Lark's token
    shift: object  # the action of Lark's tables that is not a reduction


@lru_cache(maxsize=1)
def load_grammar() -> Grammar:
    # Imported here: a program that never parses should not pay for it.
    from lark import Lark, Token
    from lark.parsers.lalr_analysis import Shift

    text = Path(__file__).with_name("dfl.lark").read_text(encoding="utf-8")
    # Lark compares a digest of grammar, options and versions with the one in the cache file. The
    # contextual part of the lexing is ours (`Vocabulary.terminal`): Lark's would stop at the first mistake.
    lark = Lark(text, parser="lalr", lexer="basic", propagate_positions=True, maybe_placeholders=True,
                cache=_cache_file() or False)
    return Grammar(lark, Vocabulary(lark), Token, Shift)


def _cache_file() -> str | None:
    """A file in a folder that only this user can write to (the cache is a pickle), None if there is none."""
    base = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    folder = Path(base) / "dfc"
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        status = folder.stat()
        if hasattr(os, "getuid") and status.st_uid != os.getuid():
            return None
        if stat.S_IMODE(status.st_mode) & 0o077:
            folder.chmod(0o700)
        return str(folder / "grammar.pickle") if os.access(folder, os.W_OK) else None
    except OSError:
        return None
