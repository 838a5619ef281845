"""The Makefile of the output folder, with which the program is built where there is no dfc."""

from __future__ import annotations

from collections.abc import Iterable

from .toolchain import CHOSEN_FLAGS, INCLUDES, LINK_FLAGS, NEEDED_FLAGS, target_flags

_TEXT = """\
# Builds {app} from the C in this folder: a C compiler and make are enough.
CC ?= cc
CFLAGS ?= {chosen}
NEEDED = {needed}
OBJECTS = {objects}
HEADERS = {headers}

{app}: $(OBJECTS)
\t$(CC) $(NEEDED) $(CFLAGS) $(LDFLAGS) -o $@ $(OBJECTS) {link}

%.o: %.c $(HEADERS)
\t$(CC) $(NEEDED) $(CFLAGS) $(CPPFLAGS) {includes} -c -o $@ $<

clean:
\trm -f $(OBJECTS) {app}

.PHONY: clean
"""


def makefile(app: str, names: Iterable[str], target: str) -> str:
    """`names` are the files of the folder; a native build says so in CFLAGS, where whoever runs make can change it."""
    names = tuple(names)
    chosen = (*CHOSEN_FLAGS, *target_flags(target))
    objects = (name.removesuffix(".c") + ".o" for name in names if name.endswith(".c"))
    headers = (name for name in names if name.endswith(".h"))
    return _TEXT.format(app=app, objects=_list(objects), headers=_list(headers), chosen=" ".join(chosen),
                        needed=" ".join(NEEDED_FLAGS), link=" ".join(LINK_FLAGS), includes=" ".join(INCLUDES))


def _list(names: Iterable[str]) -> str:
    return " \\\n  ".join(names)
