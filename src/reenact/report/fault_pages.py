"""One page a fault and an index, in Markdown, from the docstrings: the same words as `explain`."""

import re
from collections.abc import Iterable, Sequence
from functools import cache
from pathlib import Path
from textwrap import fill, indent

from reenact.faults.confidence import before_trials, word_of
from reenact.faults.detector import Detector
from reenact.faults.entry import Category, FaultEntry
from reenact.faults.families import FAMILIES
from reenact.faults.page import account_of, page_of, shown_fix, shown_fixes
from reenact.faults.registry import all_detectors, all_faults, detectors_of
from reenact.result import encoded
from reenact.types import JsonValue

FIX = "Fix"
"""The section that is made by running the tool on the Example."""
CODE = ("Example", "Instead")
"""Sections that are programs."""
INDEX = "README.md"
INTRODUCTION = (
    "Written by `reenact rules --write docs/faults` from the docstrings; change those, not these "
    "pages.\nEvery example is executed by the tests: a detector of the fault fires on the first "
    "program, and all\nare silent on the second. Fix is the edit that the tool makes of the "
    "example."
)
OURS = re.compile(r"# [a-z0-9-]+\n\nFault `[A-Z]{2}[0-9]{2}`, category `")
"""How a page begins that this module once wrote."""


def page(fault: FaultEntry) -> str:
    """A fault's documentation."""
    parts = [
        f"# {fault.name}",
        f"Fault `{fault.code}`, category `{fault.category.value}`.",
    ]
    return _joined(
        [
            *parts,
            *_sections(fault, "##"),
            "## Detectors",
            *_detectors(detectors_of(fault), "###"),
        ]
    )


def detector_page(one: Detector) -> str:
    """A detector, then the fault that it looks for."""
    others = [other for other in detectors_of(one.fault) if other is not one]
    parts = [
        *_detectors([one], "#"),
        f"## Fault {one.fault.name}",
        *_sections(one.fault, "###"),
    ]
    return _joined(
        [
            *parts,
            *(["### Its other detectors", *_detectors(others, "####")] if others else []),
        ]
    )


@cache
def detector_help(code: str) -> str:
    """The page of a detector as help text; empty for a code that is not a detector's."""
    for one in all_detectors():
        if one.code == code:
            return detector_page(one)
    return ""


def _joined(parts: Iterable[str]) -> str:
    return "\n\n".join(parts) + "\n"


def _sections(fault: FaultEntry, level: str) -> Iterable[str]:
    for name, body in page_of(fault).sections.items():
        if name == "Fix safety" and (diff := shown_fix(fault)):
            yield f"{level} {FIX}\n{_how(fault)}\n\n```diff\n{diff.rstrip()}\n```"
        shown = f"```python\n{body.rstrip()}\n```" if name in CODE else _prose(body)
        yield f"{level} {name}\n{shown}"


def _how(fault: FaultEntry) -> str:
    """What was done with the fix that is shown."""
    return f"As the tool makes it of the example ({shown_fixes()[fault.name].tried}):"


def _prose(text: str) -> str:
    """Markdown joins the lines of prose."""
    return text.strip().replace("<", "\\<")


def how_sure(one: Detector) -> str:
    """How sure a finding of this detector is by itself."""
    return word_of(
        before_trials(
            one.confidence,
            one.certainty,
            is_calibrated=False,
            is_doubted=False,
        )
    ).value


def _detectors(detectors: Iterable[Detector], level: str) -> Iterable[str]:
    for one in detectors:
        study = "of no single fault type"
        if one.study is not None:
            study = f"fault type **{one.study.value}**"
        facts = f"Family `{one.family}`, {study}, {one.severity.value}, {one.status.value}. "
        facts += f"Needs {', '.join(needs_of(one))}; observes {one.observes.value}. "
        facts += f"Before anything is tried: {how_sure(one)}."
        yield f"{level} {one.code} {one.name}\n{facts}\n\n{one.why}\n\n{_prose(account_of(one))}"


def index(faults: Sequence[FaultEntry]) -> str:
    """All faults by category, each with a link to its page; then the families as views of them."""
    parts = ["# Faults", INTRODUCTION]
    for category in Category:
        own = [fault for fault in faults if fault.category is category]
        rows = [
            f"| [{one.name}]({one.name}.md) | {one.code} | {_listed(detectors_of(one))} |"
            for one in own
        ]
        if rows:
            head = [
                f"## {category.value}",
                "| fault | code | detectors |",
                "|---|---|---|",
            ]
            parts.append("\n".join([*head, *rows]))
    parts.append("## By published tool\n`--select` and `reenact rules --family` take these names.")
    lines = ["| family | what it looks at | detectors |", "|---|---|---|"]
    for family in FAMILIES.values():
        found = [one for one in all_detectors() if one.family == family.name]
        about = f"{family.about} {family.paper}".strip()
        lines.append(f"| {family.name} | {about} | {_listed(found)} |")
    parts.append("\n".join(lines))
    return _joined(parts)


def _listed(detectors: Iterable[Detector]) -> str:
    return ", ".join(f"{one.code} {one.name}" for one in detectors)


def pages() -> dict[str, str]:
    """File name and text of every page."""
    return {
        INDEX: index(all_faults()),
        **{f"{fault.name}.md": page(fault) for fault in all_faults()},
    }


def write_pages(folder: Path) -> tuple[Path, ...]:
    """Write all pages and take away those of faults that are no more."""
    folder.mkdir(parents=True, exist_ok=True)
    wanted = pages()
    for old in folder.glob("*.md"):
        if old.name not in wanted and OURS.match(old.read_text(encoding="utf-8")):
            old.unlink()
    for name, text in wanted.items():
        (folder / name).write_text(text, encoding="utf-8")
    return tuple(folder / name for name in wanted)


COLUMNS = ("detector", "name", "fault", "family", "needs", "status")


def detector_cells(one: Detector) -> tuple[str, ...]:
    """A detector in a table of those columns."""
    return (
        one.code,
        one.name,
        one.fault.name,
        one.family,
        " ".join(needs_of(one)),
        one.status.value,
    )


def fault_text(fault: FaultEntry, width: int = 100) -> str:
    """A fault's documentation as plain text; programs keep their lines."""
    listed = [_detector_text(one, width, "    ") for one in detectors_of(fault)]
    return "\n".join(
        [
            *_fault_lines(fault, width),
            "Detectors",
            *listed,
        ]
    ).rstrip()


def detector_text(one: Detector, width: int = 100) -> str:
    """A detector as plain text, then the fault that it looks for."""
    others = [other for other in detectors_of(one.fault) if other is not one]
    named = [f"    {other.code} {other.name}" for other in others]
    head = [
        _detector_text(one, width),
        *_fault_lines(one.fault, width),
    ]
    return "\n".join(
        [
            *head,
            *(["Its other detectors", *named] if named else []),
        ]
    ).rstrip()


def _fault_lines(fault: FaultEntry, width: int) -> Iterable[str]:
    yield f"Fault {fault.name}\n\n  {fault.code}  {fault.category.value}\n"
    for name, body in page_of(fault).sections.items():
        if name == "Fix safety" and (diff := shown_fix(fault)):
            yield f"{FIX}\n    {_how(fault)}\n\n{indent(diff.rstrip(), '    ')}\n"
        yield f"{name}\n{indent(body if name in CODE else _filled(body, width - 4), '    ')}\n"


def _detector_text(one: Detector, width: int, margin: str = "") -> str:
    study = ""
    if one.study is not None:
        study = f"{one.study.value}  "
    facts = f"{one.family}  {study}{one.severity}  needs {' '.join(needs_of(one))}  {one.status}"
    account = indent(
        _filled(
            account_of(one),
            width - 4 - len(margin),
        ),
        f"{margin}    ",
    )
    return f"{margin}{one.code} {one.name}\n{margin}    {facts}\n\n{account}\n"


def _filled(text: str, width: int) -> str:
    return "\n\n".join(
        fill(
            " ".join(part.split()),
            width,
        )
        for part in text.split("\n\n")
    )


def needs_of(one: Detector) -> list[str]:
    """What a detector needs, in words."""
    return [str(need.name).lower() for need in one.needs] or ["source or trace"]


def detector_data(one: Detector) -> dict[str, JsonValue]:
    """A detector for programs. `fault` is the fault type of the study, null where it is of none."""
    return {
        "code": one.code,
        "name": one.name,
        "family": one.family,
        "fault": encoded(one.study),
        "fault_name": one.fault.name,
        "fault_code": one.fault.code,
        "category": one.fault.category.value,
        "needs": list(needs_of(one)),
        "observes": one.observes.value,
        "severity": one.severity.value,
        "status": one.status.value,
        "certainty": one.certainty.value,
        "confidence": one.confidence,
        "why": one.why,
    }
