"""The JSON schema of what `--output-format json` prints, read from the classes of results: their
keys (`reenact.result`) and the types behind them.

`python scripts/result_schema.py` writes it into the package.
"""

from __future__ import annotations

import dataclasses
import json
import types
from collections.abc import Mapping, Sequence
from decimal import Decimal
from enum import Enum
from importlib import import_module
from pathlib import Path, PurePath
from typing import Any, Union, get_args, get_origin, get_type_hints

from reenact.diagnosis.diagnosis import know_claims
from reenact.report.document import Level
from reenact.report.recorded import VIEWS
from reenact.report.render import NOTICE, SCHEMA_VERSION
from reenact.result import Result
from reenact.types import ExitCode

DRAFT = "https://json-schema.org/draft/2020-12/schema"
FILE = Path(__file__).parents[1] / "src" / "reenact" / "report" / "result.schema.json"

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
        return _object(kind, [one.name for one in dataclasses.fields(kind)])
    return {}


def _object(kind: type, names: Sequence[str]) -> dict[str, Any]:
    hints = get_type_hints(kind)
    return {
        "title": kind.__name__,
        "type": "object",
        "properties": {name: schema_of(hints.get(name, Any)) for name in names},
        "required": list(names),
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


def results() -> dict[str, dict[str, Any]]:
    """The schema of each pipeline's result."""
    know_claims()
    return {command: schema_of(import_module(home).RESULT) for command, home in VIEWS.items()}


def whole() -> dict[str, Any]:
    """The schema of everything that is printed; `data` is checked where a pipeline made it."""
    of_pipelines = results()
    return {
        "$schema": DRAFT,
        "title": f"reenact: --output-format json, version {SCHEMA_VERSION}",
        "type": "object",
        "properties": {
            "schema_version": {"const": SCHEMA_VERSION},
            "kind": {"type": "string"},
            "reused": {"type": "string"},
            "verdict": {"type": "string"},
            "exit_code": {"enum": [int(code) for code in ExitCode]},
            "notices": {"type": "array", "items": {"$ref": "#/$defs/notice"}},
        },
        "required": ["schema_version", "kind", "reused", "verdict", "notices", "data"],
        "allOf": [_data_of(command) for command in of_pipelines],
        "$defs": {"notice": _notice(), **of_pipelines},
    }


def _data_of(command: str) -> dict[str, Any]:
    return {
        "if": {"properties": {"kind": {"const": command}}, "required": ["kind"]},
        "then": {"properties": {"data": {"$ref": f"#/$defs/{command}"}}},
    }


def _notice() -> dict[str, Any]:
    text = {"type": "string"}
    known = {
        "code": text,
        "name": text,
        "level": {"enum": [level.value for level in Level]},
        "message": text,
        "next_step": text,
        "place": {"anyOf": [{"type": "object"}, NULL]},
    }
    assert tuple(known) == NOTICE
    return {"type": "object", "properties": known, "required": list(known)}


def text_of(schema: Mapping[str, Any]) -> str:
    return json.dumps(schema, indent=1) + "\n"


if __name__ == "__main__":
    FILE.write_text(text_of(whole()), encoding="utf-8")
