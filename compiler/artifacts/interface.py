"""The interface of an embedded program: what a caller can push, what it gets, and how both are called in C."""

from __future__ import annotations

from dataclasses import dataclass

from ...dsl.types import Record


@dataclass(frozen=True, slots=True)
class Port:
    """A source or a sink, with its record and the C struct that stands for it."""

    name: str
    record: Record
    struct: str


@dataclass(frozen=True, slots=True)
class Interface:
    """Sources and sinks in the program's order, which is how the runtime numbers them.

    `functions` are (what it does, its name in C), the types `instance` and `options` among them; `declarations` is
    what the public header declares, without directives, as cffi reads it.
    """

    app: str
    sources: tuple[Port, ...]
    sinks: tuple[Port, ...]
    alternates: tuple[tuple[str, tuple[str, ...]], ...]
    functions: tuple[tuple[str, str], ...]
    declarations: str

    def function(self, role: str) -> str:
        return dict(self.functions)[role]


def as_data(interface: Interface) -> dict:
    """What the manifest says of it."""
    def ports(found: tuple[Port, ...]) -> list[dict]:
        return [{"name": port.name, "record": port.record.name, "struct": port.struct,
                 "fields": [{"name": one.name, "type": str(one.type)} for one in port.record.fields]}
                for port in found]

    return {"sources": ports(interface.sources), "sinks": ports(interface.sinks),
            "alternates": {operator: list(names) for operator, names in interface.alternates},
            "functions": dict(interface.functions)}
