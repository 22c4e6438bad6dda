"""The documentation of a rule, read from its docstring: the same text is page, `explain` and SARIF help."""

from __future__ import annotations

import inspect
import re
from dataclasses import dataclass

from reenact.rules.rule import Rule

SECTIONS = ("What", "Why", "Symptom", "Example", "Instead", "Fix safety", "Sources")
_HEADING = re.compile(rf"^({'|'.join(SECTIONS)})\n", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Reading:
    """A rule's docstring in its parts."""

    title: str
    sections: dict[str, str]

    def missing(self) -> tuple[str, ...]:
        return tuple(name for name in SECTIONS if not self.sections.get(name, "").strip())


def reading(rule: Rule) -> Reading:
    """The parts of a rule's docstring: headings stand alone on a line, text below is indented."""
    text = inspect.getdoc(type(rule)) or ""
    parts = _HEADING.split(text + "\n")
    sections = {
        name: inspect.cleandoc("\n" + body) for name, body in zip(parts[1::2], parts[2::2], strict=True)
    }
    return Reading(parts[0].strip(), sections)
