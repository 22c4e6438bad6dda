"""The document as JSON: everything that was measured, under a schema version."""

from __future__ import annotations

import json

from reenact.plain import plain_json
from reenact.report.document import Diagnostic, Document
from reenact.result import encoded
from reenact.types import JsonValue

SCHEMA_VERSION = 2


def render(document: Document) -> str:
    """Stable key order, no NaN (strict readers refuse it): not-a-number becomes null."""
    whole = {
        "schema_version": SCHEMA_VERSION,
        "kind": document.kind,
        "reused": document.reused,
        "verdict": document.verdict,
        **({"exit_code": int(document.exit_code)} if document.exit_code is not None else {}),
        "notices": [_diagnostic(one) for one in document.diagnostics],
        "data": encoded(document.data),
    }
    return plain_json(json.dumps(whole, indent=2, ensure_ascii=False, allow_nan=False)) + "\n"


def _diagnostic(one: Diagnostic) -> dict[str, JsonValue]:
    return {
        "code": one.code,
        "name": one.name,
        "level": one.level.value,
        "message": one.message,
        "next_step": one.next_step,
        "place": encoded(one.place),
    }
