"""The notices as SARIF 2.1.0, for code-scanning services and editors."""

from __future__ import annotations

import json
import os
from urllib.parse import quote

from reenact.plain import plain
from reenact.report.document import Diagnostic, Document, Level
from reenact.types import JsonValue, Place
from reenact.version import __version__

SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"


def render(document: Document) -> str:
    """One run of one tool; each code is a rule once, each notice a result."""
    rules = {notice.code: notice for notice in document.diagnostics}
    run: dict[str, JsonValue] = {
        "tool": {
            "driver": {
                "name": "reenact",
                "version": __version__,
                "rules": [_rule(notice) for notice in rules.values()],
            }
        },
        "results": [_result(notice, list(rules).index(notice.code)) for notice in document.diagnostics],
        "columnKind": "unicodeCodePoints",
    }
    return json.dumps({"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}, indent=2) + "\n"


def _rule(notice: Diagnostic) -> dict[str, JsonValue]:
    rule: dict[str, JsonValue] = {
        "id": notice.code,
        "name": notice.name,
        "shortDescription": {"text": notice.name.replace("-", " ")},
        "defaultConfiguration": {"level": notice.level.value},
    }
    if notice.help:
        told = plain(notice.help)
        rule |= {"help": {"text": told, "markdown": told}}
    return rule


def _result(notice: Diagnostic, index: int) -> dict[str, JsonValue]:
    result: dict[str, JsonValue] = {
        "ruleId": notice.code,
        "ruleIndex": index,
        "level": Level(notice.level).value,
        "message": {"text": plain(notice.message)},
    }
    if notice.place is not None:
        result["locations"] = [{"physicalLocation": _location(notice.place)}]
    return result


def _location(place: Place) -> dict[str, JsonValue]:
    region: dict[str, JsonValue] = {"startLine": place.line, "startColumn": place.column + 1}
    if place.end_line:
        region |= {"endLine": place.end_line, "endColumn": place.end_column + 1}
    return {"artifactLocation": {"uri": quote(os.fsencode(place.file))}, "region": region}
