"""One type in, any format out: picks the renderer by name. All but `full` and `html` are made
here.
"""

import json
import os
from urllib.parse import quote

from reenact.plain import plain, plain_json, plain_line
from reenact.program.patch import Replacement, replacements_in
from reenact.redact import redact
from reenact.report.document import (
    Diagnostic,
    Document,
    Edit,
    Facts,
    Level,
    Picture,
    Plain,
    Text,
    mapped,
)
from reenact.result import encoded
from reenact.types import JsonValue, Table
from reenact.version import __version__

FORMATS = ("full", "concise", "json", "markdown", "html", "sarif", "github")
SCHEMA_VERSION = 3
NOTICE = ("code", "name", "level", "message", "next_step", "place")
"""What JSON has of a diagnostic."""
COMMANDS = {
    Level.ERROR: "error",
    Level.WARNING: "warning",
    Level.NOTE: "notice",
}
SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"


def render(
    document: Document,
    output_format: str,
    *,
    width: int = 100,
    color: bool = False,
    details: bool = True,
) -> str:
    """The document as text in that format, ending in a newline; the last three count for `full`
    alone.
    """
    # Before a format escapes a secret into something else.
    document = mapped(document, lambda _, text: redact(text))
    if output_format == "full":
        from reenact.report.as_full import render as full

        return full(document, width=width, color=color, details=details)
    if output_format == "html":
        from reenact.report.as_html import render as html

        return html(document)
    return TEXTS[output_format](document)


def concise(document: Document) -> str:
    """`file:line:column: CODE message`, or the rows of its tables where there is none; then the
    verdict.
    """
    lines = []
    if document.reused:
        lines = [plain_line(document.reused)]
    for one in document.diagnostics:
        where = ""
        if one.place:
            where = f"{plain_line(str(one.place))}: "
        lines.append(f"{where}{plain_line(one.code)} {' '.join(plain(one.message).split())}")
    tables = [] if document.diagnostics else document.plain_blocks()
    rows = (row for block in tables if isinstance(block, Table) for row in block.rows)
    for row in rows:
        lines.append("  ".join(plain_line(cell) for cell in row if cell))
    return "\n".join([*lines, plain_line(document.verdict)]) + "\n"


def github(document: Document) -> str:
    """Workflow commands, which become annotations, then the verdict as a plain line."""
    return (
        "\n".join(
            [
                *(_command(one) for one in document.diagnostics),
                plain_line(document.verdict),
            ]
        )
        + "\n"
    )


def _command(one: Diagnostic) -> str:
    properties = {
        "title": f"{one.code} {one.name}",
    }
    if (at := one.place) is not None:
        # A name with something taken out of it may be that of another file.
        properties |= {
            "file": plain_line(str(at.file)),
            "line": str(at.line),
            "col": str(at.column + 1),
        }
    escaped = {
        name: _data(text)
        .replace(":", "%3A")
        .replace(
            ",",
            "%2C",
        )
        for name, text in properties.items()
    }
    listed = ",".join(f"{name}={text}" for name, text in escaped.items())
    return f"::{COMMANDS[one.level]} {listed}::{_data(one.message)}"


def _data(text: str) -> str:
    return (
        plain(text)
        .replace("%", "%25")
        .replace("\r", "%0D")
        .replace(
            "\n",
            "%0A",
        )
    )


def markdown(document: Document) -> str:
    """Headings, tables and lists; cells are escaped, so data cannot become markup."""
    parts = []
    if document.reused:
        parts = [f"*{_inline(document.reused)}*"]
    parts += [
        f"# {_inline(document.title)}",
        f"**{_inline(document.verdict)}**",
    ]
    if document.diagnostics:
        parts += [
            "## Notices",
            "\n".join(_diagnostic(one) for one in document.diagnostics),
        ]
    blocks = document.plain_blocks()
    if document.diagnostics and blocks and not blocks[0].title:
        # Ends the list: inside it an indented text would be markup, not code.
        parts.append("---")
    parts += [part for block in blocks for part in _block(block)]
    return "\n\n".join(parts) + "\n"


def _block(block: Plain) -> list[str]:
    head = []
    if block.title:
        head = [f"## {_inline(block.title)}"]
    if isinstance(block, Text | Picture):
        shown = block.text if isinstance(block, Text) else block.alt
        return [
            *head,
            "\n".join(f"    {line}" for line in plain(shown).splitlines()),
        ]
    columns, rows = (
        (("", ""), block.facts) if isinstance(block, Facts) else (block.columns, block.rows)
    )
    lines = [
        columns,
        ("---",) * len(columns),
        *rows,
    ]
    return [
        *head,
        "\n".join("| " + " | ".join(map(_inline, line)) + " |" for line in lines),
    ]


def _diagnostic(one: Diagnostic) -> str:
    where = ""
    if one.where:
        where = f" {_code(one.where)}"
    after = ""
    if one.next_step:
        after = f" Next: {_code(one.next_step)}"
    head = f"- **{_inline(one.code)} {_inline(one.name)}**{where}"
    if not one.detail:
        return f"{head}: {_inline(one.message)}{after}"
    aside = ""
    if one.aside:
        aside = f" ({_inline(one.aside)})"
    # Six spaces: code inside a list item, whatever stands in it.
    lines = "\n".join(f"      {line}" for line in plain(one.detail).splitlines())
    return f"{head}{aside}.{after}\n\n{lines}\n"


def _code(text: str) -> str:
    """A name or command as code; one that could end the code or be markup is escaped instead."""
    line = plain_line(text)
    if set(line) & set("`<>&"):
        return _inline(line)
    return f"`{line}`"


def _inline(text: str) -> str:
    flat = " ".join(plain(text).split())
    for mark in "\\`*_<>[]|#&":
        flat = flat.replace(mark, f"\\{mark}")
    return flat


def as_json(document: Document) -> str:
    """Everything that was measured. Stable key order, no NaN (strict readers refuse it), but
    null.
    """
    head = {
        "schema_version": SCHEMA_VERSION,
        "kind": document.kind,
        "reused": document.reused,
    }
    ended = {}
    if document.exit_code is not None:
        ended = {"exit_code": int(document.exit_code)}
    notices = [
        {name: encoded(getattr(one, name)) for name in NOTICE} for one in document.diagnostics
    ]
    whole = {
        **head,
        "verdict": document.verdict,
        **ended,
        "notices": notices,
        "data": encoded(document.data),
    }
    return (
        plain_json(
            json.dumps(
                whole,
                indent=2,
                ensure_ascii=False,
                allow_nan=False,
            )
        )
        + "\n"
    )


def sarif(document: Document) -> str:
    """SARIF 2.1.0, for code scanning and editors: each code is a rule once, each diagnostic a
    result.
    """
    rules = {one.code: one for one in document.diagnostics}
    listed = [_rule(one) for one in rules.values()]
    driver: JsonValue = {
        "name": "reenact",
        "version": __version__,
        "rules": listed,
    }
    results = [
        _result(
            one,
            list(rules).index(one.code),
        )
        for one in document.diagnostics
    ]
    run = {
        "tool": {"driver": driver},
        "results": results,
        "columnKind": "unicodeCodePoints",
    }
    return (
        json.dumps(
            {
                "$schema": SCHEMA,
                "version": "2.1.0",
                "runs": [run],
            },
            indent=2,
        )
        + "\n"
    )


def _rule(one: Diagnostic) -> dict[str, JsonValue]:
    text = plain(one.help)
    rule: dict[str, JsonValue] = {
        "id": one.code,
        "name": one.name,
    }
    rule["shortDescription"] = {"text": one.name.replace("-", " ")}
    rule["defaultConfiguration"] = {"level": one.level.value}
    if text:
        return {
            **rule,
            "help": {
                "text": text,
                "markdown": text,
            },
        }
    return rule


def _result(one: Diagnostic, index: int) -> dict[str, JsonValue]:
    result: dict[str, JsonValue] = {
        "ruleId": one.code,
        "ruleIndex": index,
        "level": one.level.value,
    }
    result["message"] = {"text": plain(one.message)}
    if (place := one.place) is not None:
        region = {
            "startLine": place.line,
            "startColumn": place.column + 1,
        }
        if place.end_line:
            region |= {
                "endLine": place.end_line,
                "endColumn": place.end_column + 1,
            }
        where: JsonValue = {
            "artifactLocation": {"uri": quote(os.fsencode(place.file))},
            "region": region,
        }
        result["locations"] = [{"physicalLocation": where}]
    if one.fix is not None:
        result["fixes"] = [_fix(one.fix)]
    return result


def _fix(fix: Edit) -> JsonValue:
    """An edit as SARIF has it: lines of a file, and what comes in their place."""
    return {
        "description": {"text": plain(fix.words)},
        "artifactChanges": [
            {
                "artifactLocation": {"uri": quote(os.fsencode(file))},
                "replacements": [_replacement(one) for one in replaced],
            }
            for file, replaced in replacements_in(fix.diff).items()
        ],
    }


def _replacement(one: Replacement) -> JsonValue:
    region: JsonValue = {
        "startLine": one.line,
        "startColumn": 1,
        "endLine": one.line + one.removed,
        "endColumn": 1,
    }
    return {"deletedRegion": region, "insertedContent": {"text": one.text}}


TEXTS = {
    "concise": concise,
    "json": as_json,
    "markdown": markdown,
    "sarif": sarif,
    "github": github,
}
