"""The sheet as JSON: everything that was measured, under a schema version."""

from __future__ import annotations

import dataclasses
import json
import math

from reenact.plain import plain_json
from reenact.report.sheet import Notice, Sheet
from reenact.types import JsonValue

SCHEMA_VERSION = 1


def render(sheet: Sheet) -> str:
    """Stable key order, no NaN (strict readers refuse it): not-a-number becomes null."""
    document = {
        "schema_version": SCHEMA_VERSION,
        "kind": sheet.kind,
        "reused": sheet.reused,
        "verdict": sheet.verdict,
        **({"exit_code": int(sheet.exit_code)} if sheet.exit_code is not None else {}),
        "notices": [_notice(notice) for notice in sheet.notices],
        "data": finite(sheet.data),
    }
    return plain_json(json.dumps(document, indent=2, ensure_ascii=False, allow_nan=False)) + "\n"


def finite(value: JsonValue) -> JsonValue:
    """The same value with every infinity and not-a-number as null."""
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if isinstance(value, dict):
        return {str(key): finite(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [finite(item) for item in value]
    return value


def _notice(notice: Notice) -> dict[str, JsonValue]:
    place = notice.place
    return {
        "code": notice.code,
        "name": notice.name,
        "level": notice.level.value,
        "message": notice.message,
        "next_step": notice.next_step,
        "place": {**dataclasses.asdict(place), "file": str(place.file)} if place else None,
    }
