"""Suppression comments: `# reenact: ignore` or `# reenact: ignore[UM005, NL004]` on the accused line."""

from __future__ import annotations

import re
from collections.abc import Iterable

from reenact.program.program import Program
from reenact.rules.finding import Finding

_COMMENT = re.compile(r"#\s*reenact:\s*ignore(?:\[(?P<codes>[\w\s,-]+)\])?")
_WHOLE_FILE = re.compile(r"^\s*#\s*reenact:\s*ignore-file(?:\[(?P<codes>[\w\s,-]+)\])?", re.MULTILINE)


def unsuppressed(findings: Iterable[Finding], program: Program) -> tuple[Finding, ...]:
    """The findings that no comment in the program waves through."""
    return tuple(finding for finding in findings if not _suppressed(finding, program))


def _suppressed(finding: Finding, program: Program) -> bool:
    place = finding.place
    source = program.file(str(place.file)) if place is not None else None
    if place is None or source is None:
        return False
    if any(_covers(found, finding) for found in _WHOLE_FILE.finditer(source.text)):
        return True
    lines = source.text.splitlines()
    last = max(place.line, place.end_line or place.line)
    return any(
        _covers(found, finding) for line in lines[place.line - 1 : last] for found in _COMMENT.finditer(line)
    )


def _covers(found: re.Match[str], finding: Finding) -> bool:
    codes = found["codes"]
    if codes is None:
        return True
    words = [word.strip() for word in codes.split(",") if word.strip()]
    return any(
        finding.code.startswith(word.upper()) or word.lower() in (finding.name, finding.family)
        for word in words
    )
