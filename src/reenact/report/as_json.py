"""The document as JSON: everything that was measured, under a schema version; the diagnostics as SARIF."""

import json
import os
from urllib.parse import quote

from reenact.plain import plain, plain_json
from reenact.report.document import Diagnostic, Document, Level
from reenact.result import encoded
from reenact.types import JsonValue, Place
from reenact.version import __version__

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


SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"


def sarif(document: Document) -> str:
    """SARIF 2.1.0, for code scanning and editors: each code is a rule once, each diagnostic a result."""
    rules = {one.code: one for one in document.diagnostics}
    run: dict[str, JsonValue] = {
        "tool": {
            "driver": {
                "name": "reenact",
                "version": __version__,
                "rules": [_rule(one) for one in rules.values()],
            }
        },
        "results": [_result(one, list(rules).index(one.code)) for one in document.diagnostics],
        "columnKind": "unicodeCodePoints",
    }
    return json.dumps({"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}, indent=2) + "\n"


def _rule(one: Diagnostic) -> dict[str, JsonValue]:
    rule: dict[str, JsonValue] = {
        "id": one.code,
        "name": one.name,
        "shortDescription": {"text": one.name.replace("-", " ")},
        "defaultConfiguration": {"level": one.level.value},
    }
    if one.help:
        text = plain(one.help)
        rule |= {"help": {"text": text, "markdown": text}}
    return rule


def _result(one: Diagnostic, index: int) -> dict[str, JsonValue]:
    result: dict[str, JsonValue] = {
        "ruleId": one.code,
        "ruleIndex": index,
        "level": Level(one.level).value,
        "message": {"text": plain(one.message)},
    }
    if one.place is not None:
        result["locations"] = [{"physicalLocation": _location(one.place)}]
    return result


def _location(place: Place) -> dict[str, JsonValue]:
    region: dict[str, JsonValue] = {"startLine": place.line, "startColumn": place.column + 1}
    if place.end_line:
        region |= {"endLine": place.end_line, "endColumn": place.end_column + 1}
    return {"artifactLocation": {"uri": quote(os.fsencode(place.file))}, "region": region}
