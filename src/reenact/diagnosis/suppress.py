"""A comment `# reenact: ignore` or `# reenact: ignore[UM005, NL004]` on the line of a finding
suppresses it; `# reenact: ignore-file` does so in the whole file.
"""

import re
from collections.abc import Iterable

from reenact.faults.finding import Finding
from reenact.program.program import Program

_COMMENT = re.compile(r"#\s*reenact:\s*ignore(?:\[(?P<codes>[\w\s,-]+)\])?")
_WHOLE_FILE = re.compile(
    r"^\s*#\s*reenact:\s*ignore-file(?:\[(?P<codes>[\w\s,-]+)\])?", re.MULTILINE
)


def unsuppressed(
    findings: Iterable[Finding],
    program: Program,
) -> tuple[Finding, ...]:
    """The findings that no comment in the program suppresses; each is of one detector."""
    return tuple(finding for finding in findings if not _suppressed(finding, program))


def _suppressed(finding: Finding, program: Program) -> bool:
    place = finding.place
    source = program.file(str(place.file)) if place is not None else None
    if place is None or source is None:
        return False
    last = max(place.line, place.end_line or place.line)
    lines = source.text.splitlines()[place.line - 1 : last]
    comments = [comment for line in lines for comment in _COMMENT.finditer(line)]
    comments += _WHOLE_FILE.finditer(source.text)
    return any(_covers(comment, finding) for comment in comments)


def _covers(comment: re.Match[str], finding: Finding) -> bool:
    words = [word.strip() for word in (comment["codes"] or "").split(",") if word.strip()]
    first = finding.first
    own = (first.name, first.family)
    named = any(first.code.startswith(word.upper()) or word.lower() in own for word in words)
    return named or comment["codes"] is None
