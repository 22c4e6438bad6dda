"""The JSON schema of a result, read from its class: its keys (`reenact.result`) and the types
behind them.
"""

from __future__ import annotations

import dataclasses
import types
from collections.abc import Mapping, Sequence
from decimal import Decimal
from enum import Enum
from pathlib import PurePath
from typing import Any, Union, get_args, get_origin, get_type_hints

from reenact.result import Result, read_key

NULL = {"type": "null"}
PLAIN: dict[Any, dict[str, Any]] = {
    str: {"type": "string"},
    int: {"type": "integer"},
    bool: {"type": "boolean"},
    # What is infinite or not a number is null.
    float: {"type": ["number", "null"]},
    Decimal: {"type": "string"},
    type(None): NULL,
}


def schema_of(kind: Any) -> dict[str, Any]:
    """The schema of anything that a result holds; empty where the type says nothing."""
    if kind in PLAIN:
        return PLAIN[kind]
    origin, parts = get_origin(kind), get_args(kind)
    if origin in (Union, types.UnionType):
        return {"anyOf": [schema_of(part) for part in parts]}
    if isinstance(origin, type) and issubclass(origin, Mapping):
        return {"type": "object", "additionalProperties": schema_of(parts[1])}
    if origin is tuple and parts[-1] is not Ellipsis:
        return {"type": "array"}
    if isinstance(origin, type) and issubclass(origin, Sequence | frozenset):
        return {"type": "array", "items": schema_of(parts[0])}
    return _of_class(kind) if isinstance(kind, type) else {}


def _of_class(kind: type) -> dict[str, Any]:
    if issubclass(kind, Enum):
        return {"enum": [one.value for one in kind]}
    if issubclass(kind, PurePath):
        return {"type": "string"}
    if hasattr(kind, "to_json") and not issubclass(kind, Result):
        return {"type": "object"}
    if hasattr(kind, "model_json_schema"):
        found: dict[str, Any] = kind.model_json_schema()
        return {"title": kind.__name__, "type": found["type"]}
    if hasattr(kind, "_fields"):
        return _object(kind, kind._fields)
    if hasattr(kind, "json_fields"):
        return _typed_dict(kind)
    if dataclasses.is_dataclass(kind):
        return _object(kind, getattr(kind, "JSON", [one.name for one in dataclasses.fields(kind)]))
    return {}


def _object(kind: type, keys: Sequence[str]) -> dict[str, Any]:
    known = {}
    for key in keys:
        name, path, empty, _ = read_key(key)
        found = schema_of(_type_at(kind, path))
        # A path may lead through nothing.
        known[name] = {"anyOf": [found, NULL]} if found and (empty or "." in path) else found
    return {
        "title": kind.__name__,
        "type": "object",
        "properties": known,
        "required": list(known),
    }


def _typed_dict(kind: Any) -> dict[str, Any]:
    """Of a class whose method says what its JSON is: the keys and types of what it returns."""
    fields = get_type_hints(get_type_hints(kind.json_fields)["return"])
    return {
        "title": kind.__name__,
        "type": "object",
        "properties": {name: schema_of(part) for name, part in fields.items()},
        "required": list(fields),
    }


def _type_at(kind: Any, path: str) -> Any:
    """The type of an attribute, property or method, by its path."""
    for name in path.split("."):
        kind = next((part for part in get_args(kind) if part is not type(None)), kind)
        found = getattr(kind, name, None)
        made = found.fget if isinstance(found, property) else found
        if isinstance(made, types.FunctionType):
            kind = get_type_hints(made).get("return", Any)
        else:
            kind = get_type_hints(kind).get(name, Any)
    return kind
