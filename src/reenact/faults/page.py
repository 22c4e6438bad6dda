"""The documentation of a fault, read from the docstring of its file: page, `explain` and SARIF help."""

import inspect
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from textwrap import fill
from typing import NamedTuple

from reenact.errors import InputError
from reenact.faults.detector import Detector
from reenact.faults.entry import FaultEntry
from reenact.faults.families import FAMILIES
from reenact.faults.fix import FixSafety

SECTIONS = ("What", "Why", "Symptom", "Example", "Instead", "Fix safety", "Sources")
SHOWN = Path(__file__).with_name("fixes.json")
"""What the tool makes of the examples; `scripts/fault_fixes.py` writes it."""
_HEADING = re.compile(
    rf"^({'|'.join(SECTIONS)})\n",
    re.MULTILINE,
)


class ShownFix(NamedTuple):
    """The fix of a page's own Example."""

    diff: str
    tried: str


@cache
def shown_fixes() -> Mapping[str, ShownFix]:
    """The fixes that pages show, by the name of the fault."""
    if not SHOWN.is_file():
        return {}
    data = json.loads(SHOWN.read_text(encoding="utf-8"))
    return {name: ShownFix(**one) for name, one in data.items()}


def shown_fix(fault: FaultEntry) -> str:
    """The lines that the fix of a fault changes on its page, as a diff without its heads; empty for a
    fault without one.
    """
    fix = shown_fixes().get(fault.name)
    lines = fix.diff.splitlines()[2:] if fix is not None else []
    return "\n".join(line for line in lines if line[:1] in "-+ ")


@dataclass(frozen=True, slots=True)
class Page:
    """A docstring in its parts."""

    title: str
    sections: dict[str, str]

    @property
    def fix_safety(self) -> FixSafety:
        """What its fix leaves alone: the first word of that section."""
        first = self.sections.get("Fix safety", "").partition(" ")[0].rstrip(":.,")
        return FixSafety.SAFE if first == "Safe" else FixSafety.UNSAFE

    def missing(self) -> tuple[str, ...]:
        return tuple(name for name in SECTIONS if not self.sections.get(name, "").strip())


def page_of(fault: FaultEntry) -> Page:
    """The page of a fault."""
    return parsed(fault.page, fault.code)


def parsed(text: str, code: str) -> Page:
    """The parts of a page: headings stand alone on a line, text below is indented.

    Instead is a whole program, or the lines in which it differs from Example, marked as in a diff:
    `- ` goes, `+ ` comes, two spaces stay and say where.
    """
    parts = _HEADING.split(inspect.cleandoc(text) + "\n")
    bodies = zip(parts[1::2], parts[2::2], strict=True)
    sections = {name: inspect.cleandoc("\n" + body) for name, body in bodies}
    if re.search(
        r"^[-+] ",
        sections.get("Instead", ""),
        re.MULTILINE,
    ):
        sections["Instead"] = _changed(
            code,
            sections["Example"],
            sections["Instead"],
        )
    return Page(parts[0].strip(), sections)


def account_of(detector: Detector) -> str:
    """What a detector says of itself; `{paper}` stands for the paper of its family."""
    family = FAMILIES.get(detector.family)
    text = detector.doc.replace(
        "{paper}",
        family.paper if family is not None else "",
    )
    return "\n\n".join(fill(part, 102, break_on_hyphens=False) for part in text.split("\n\n"))


def _changed(code: str, program: str, diff: str) -> str:
    lines = iter(program.splitlines())
    result: list[str] = []
    for edit in diff.splitlines():
        mark = edit[:2]
        text = edit[2:]
        if mark == "+ ":
            result.append(text)
            continue
        for line in lines:
            if line == text:
                break
            result.append(line)
        else:
            raise InputError(
                f"{code}: Instead changes a line that Example does not have: {text!r}."
            )
        if mark != "- ":
            result.append(text)
    return "\n".join([*result, *lines])
