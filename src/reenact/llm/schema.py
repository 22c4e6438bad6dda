"""Does a JSON value fit a JSON schema? Knows what pydantic writes; other keywords are not checked.

Used where the answer's Python type is not at hand: when somebody files an answer into a relay folder. The
run that asked checks again, with the type itself.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

_TYPES: Mapping[str, Callable[[Any], bool]] = {
    "object": lambda value: isinstance(value, dict),
    "array": lambda value: isinstance(value, list),
    "string": lambda value: isinstance(value, str),
    "boolean": lambda value: isinstance(value, bool),
    "null": lambda value: value is None,
    "integer": lambda value: (
        isinstance(value, int | float) and not isinstance(value, bool) and value == int(value)
    ),
    "number": lambda value: isinstance(value, int | float) and not isinstance(value, bool),
}
_BOUNDS: tuple[tuple[str, tuple[type, ...], Callable[[Any, Any], bool], str], ...] = (
    ("minimum", (int, float), lambda value, bound: value >= bound, "must be at least"),
    ("maximum", (int, float), lambda value, bound: value <= bound, "must be at most"),
    ("exclusiveMinimum", (int, float), lambda value, bound: value > bound, "must be more than"),
    ("exclusiveMaximum", (int, float), lambda value, bound: value < bound, "must be less than"),
    (
        "minLength",
        (str,),
        lambda value, bound: len(value) >= bound,
        "must have at least this many characters:",
    ),
    (
        "maxLength",
        (str,),
        lambda value, bound: len(value) <= bound,
        "must have at most this many characters:",
    ),
    ("pattern", (str,), lambda value, bound: re.search(bound, value) is not None, "must match"),
    ("minItems", (list,), lambda value, bound: len(value) >= bound, "must have at least this many items:"),
    ("maxItems", (list,), lambda value, bound: len(value) <= bound, "must have at most this many items:"),
)


def misfits(value: Any, schema: Mapping[str, Any]) -> list[str]:
    """What does not fit, one sentence each; empty when all does."""
    return list(_check(value, schema, schema, "answer"))


def _check(value: Any, schema: Any, root: Mapping[str, Any], where: str) -> Iterator[str]:
    if not isinstance(schema, dict):
        if schema is False:
            yield f"{where}: nothing may stand here"
        return
    if "$ref" in schema:
        yield from _check(value, _resolved(schema["$ref"], root), root, where)
    yield from _check_own(value, schema, where)
    yield from _check_choices(value, schema, root, where)
    if isinstance(value, dict):
        yield from _check_object(value, schema, root, where)
    if isinstance(value, list):
        yield from _check_array(value, schema, root, where)


def _check_own(value: Any, schema: Mapping[str, Any], where: str) -> Iterator[str]:
    types = schema.get("type", [])
    types = [types] if isinstance(types, str) else types
    if types and not any(_TYPES.get(name, lambda _: True)(value) for name in types):
        yield f"{where}: must be of type {' or '.join(types)}"
    if "const" in schema and value != schema["const"]:
        yield f"{where}: must be {schema['const']!r}"
    if "enum" in schema and value not in schema["enum"]:
        yield f"{where}: must be one of {schema['enum']}"
    for keyword, kinds, holds, words in _BOUNDS:
        applies = keyword in schema and isinstance(value, kinds) and not isinstance(value, bool)
        if applies and not holds(value, schema[keyword]):
            yield f"{where}: {words} {schema[keyword]}"


def _check_choices(
    value: Any, schema: Mapping[str, Any], root: Mapping[str, Any], where: str
) -> Iterator[str]:
    for part in schema.get("allOf", []):
        yield from _check(value, part, root, where)
    for keyword in ("anyOf", "oneOf"):
        if keyword not in schema:
            continue
        tries = [list(_check(value, part, root, where)) for part in schema[keyword]]
        if all(tries):
            # The branch that almost fits says most.
            yield from min(tries, key=len)


def _check_object(
    value: Mapping[str, Any], schema: Mapping[str, Any], root: Mapping[str, Any], where: str
) -> Iterator[str]:
    properties = schema.get("properties", {})
    for name in schema.get("required", []):
        if name not in value:
            yield f"{where}.{name}: is missing"
    for name, item in value.items():
        rule = properties.get(name, schema.get("additionalProperties", True))
        yield from _check(item, rule, root, f"{where}.{name}")


def _check_array(
    value: list[Any], schema: Mapping[str, Any], root: Mapping[str, Any], where: str
) -> Iterator[str]:
    prefix = schema.get("prefixItems", [])
    for index, item in enumerate(value):
        rule = prefix[index] if index < len(prefix) else schema.get("items", True)
        yield from _check(item, rule, root, f"{where}[{index}]")
    if schema.get("uniqueItems") and any(item in value[:index] for index, item in enumerate(value)):
        yield f"{where}: must not contain the same item twice"


def _resolved(reference: str, root: Mapping[str, Any]) -> Any:
    node: Any = root
    for name in reference.removeprefix("#/").split("/"):
        node = node.get(name, True) if isinstance(node, dict) else True
    return node
