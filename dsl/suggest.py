"""Near names: what a misspelt word was probably meant to be, and how a list of choices reads."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches


def nearest(word: str, choices: Iterable[str]) -> str:
    """The choice closest to the word, or ''. Case alone never hides a name."""
    names = sorted(set(choices))
    folded = {name.lower(): name for name in names}
    if word.lower() in folded:
        return folded[word.lower()]
    match = get_close_matches(word, names, n=1, cutoff=0.6)
    return match[0] if match else ""


def article(noun: str) -> str:
    """`a stream`, `an operator`."""
    return f"{'an' if noun[0] in 'aeiou' else 'a'} {noun}"


def listing(choices: Iterable[str], limit: int = 12) -> str:
    """`a, b, c or d`; long lists are cut."""
    names = list(dict.fromkeys(choices))
    if len(names) > limit:
        return ", ".join(names[:limit]) + ", …"
    if len(names) < 2:
        return "".join(names)
    return ", ".join(names[:-1]) + " or " + names[-1]
