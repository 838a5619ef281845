"""The little of JSON schema that ours use: answers the mistakes of a value as texts with their places."""

from __future__ import annotations

from collections.abc import Iterator

_TYPES = {"object": dict, "array": list, "string": str, "boolean": bool, "integer": int, "number": (int, float),
          "null": type(None)}


def mistakes(value: object, schema: dict, root: dict | None = None, place: str = "$") -> Iterator[str]:
    root = root or schema
    if "$ref" in schema:
        found = root
        for part in schema["$ref"].removeprefix("#/").split("/"):
            found = found[part]
        yield from mistakes(value, {**found, **{k: v for k, v in schema.items() if k != "$ref"}}, root, place)
        return
    if "const" in schema and value != schema["const"]:
        yield f"{place}: not {schema['const']!r}"
    if "enum" in schema and value not in schema["enum"]:
        yield f"{place}: {value!r} is none of {schema['enum']}"
    if "type" in schema and not any(_is(value, name) for name in _names(schema["type"])):
        yield f"{place}: {value!r} is no {schema['type']}"
    elif isinstance(value, dict):
        yield from _of_object(value, schema, root, place)
    elif isinstance(value, list):
        for i, item in enumerate(value):
            yield from mistakes(item, schema.get("items", {}), root, f"{place}[{i}]")
    elif isinstance(value, int | float) and not isinstance(value, bool):
        if not schema.get("minimum", value) <= value <= schema.get("maximum", value):
            yield f"{place}: {value} is out of range"


def _names(names: str | list[str]) -> list[str]:
    return [names] if isinstance(names, str) else names


def _is(value: object, name: str) -> bool:
    return isinstance(value, _TYPES[name]) and (name in ("boolean",) or not isinstance(value, bool))


def _of_object(value: dict, schema: dict, root: dict, place: str) -> Iterator[str]:
    known, more = schema.get("properties", {}), schema.get("additionalProperties", True)
    for name in schema.get("required", ()):
        if name not in value:
            yield f"{place}: no {name}"
    for name, part in value.items():
        if name in known:
            yield from mistakes(part, known[name], root, f"{place}.{name}")
        elif isinstance(more, dict):
            yield from mistakes(part, more, root, f"{place}.{name}")
        elif not more:
            yield f"{place}: {name} is not known"
