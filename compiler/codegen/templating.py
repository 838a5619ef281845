"""Jinja2 with strict names, and the line numbers of generated files."""

from __future__ import annotations

from functools import cache

from jinja2 import Environment, PackageLoader, StrictUndefined

_RESTORE = "#line restore"


@cache
def _environment() -> Environment:
    return Environment(loader=PackageLoader("dfc.compiler.codegen"), undefined=StrictUndefined, trim_blocks=True,
                       lstrip_blocks=True, keep_trailing_newline=True, autoescape=False)


def render(template: str, **values: object) -> str:
    return _environment().get_template(template).render(**values)


def number_lines(text: str, file: str) -> str:
    """`#line restore` becomes the line where it stands, so that what follows belongs to this file again.

    Before: `#line 7 "app.dfl"`, code, `#line restore`. After: the last is `#line 121 "app.c"`.
    """
    lines = text.split("\n")
    return "\n".join(f'#line {number + 2} "{file}"' if line.strip() == _RESTORE else line.rstrip()
                     for number, line in enumerate(lines))
