"""`dfc ctl`: one request to a running program."""

from __future__ import annotations

import json
import os
import sys
from argparse import Namespace
from collections.abc import Iterable
from difflib import get_close_matches

from dfc.compiler.failure import GOOD
from dfc.compiler.live.client import Client, Refused, printable

_REQUESTS = ("status", "metrics", "decisions", "plan", "config", "workers", "alternate", "policy", "reload", "shadow",
             "drain", "help")
_OF_OPERATORS = ("workers", "alternate", "policy")


def run(args: Namespace) -> int:
    words = args.words or ["help"]
    with Client(args.socket) as client:
        if words == ["metrics"]:
            text = client.metrics()
            sys.stdout.write(json.dumps({"ok": True, "metrics": text}) + "\n" if args.json else text)
            return GOOD
        answer = _asked(client, words)
    sys.stdout.write(json.dumps(answer, ensure_ascii=False) + "\n" if args.json else _text(answer))
    return GOOD


def _asked(client: Client, words: list[str]) -> dict:
    try:
        return client.ask(" ".join(_for_the_program(words)))
    except Refused as refusal:
        raise Refused(f"{refusal}{_hint(client, words)}") from None


def _for_the_program(words: list[str]) -> list[str]:
    """A file is named from where the user stands, which need not be where the program does."""
    return ["reload", os.path.abspath(words[1])] if words[0] == "reload" and len(words) == 2 else words


def _hint(client: Client, words: list[str]) -> str:
    """What was probably meant, where a name is one that the program does not have."""
    if words[0] not in _REQUESTS:
        return _meant(words[0], _REQUESTS)
    if words[0] not in _OF_OPERATORS or len(words) < 2:
        return ""
    operators = {one["name"]: one for one in client.ask("status")["status"]["operators"]}
    if words[1] not in operators:
        return _meant(words[1], operators)
    if words[0] == "alternate" and len(words) == 3 and words[2] not in operators[words[1]]["alternates"]:
        return _meant(words[2], operators[words[1]]["alternates"])
    return ""


def _meant(word: str, known: Iterable[str]) -> str:
    close = get_close_matches(word, list(known), n=1)
    return f"; did you mean `{close[0]}`?" if close else ""


def _text(answer: dict) -> str:
    if "status" in answer:
        from dfc.compiler.live.screen import History, snapshot

        return snapshot(answer["status"], History())
    if "decisions" in answer:
        from dfc.compiler.live.screen import change_lines

        return "".join(f"{line}\n" for line in change_lines(answer["decisions"])) or "nothing has been changed yet\n"
    if "config" in answer:
        return json.dumps(answer["config"], indent=2, ensure_ascii=False) + "\n"
    lines = answer.get("plan") or answer.get("help") or [answer.get("message") or "done"]
    return "".join(f"{printable(line)}\n" for line in lines)
