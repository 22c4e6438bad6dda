"""What goes back to the reporter where nothing was shown: what was tried, and what is missing.

It says only what was run and asks only for what the report does not have.
"""

from collections.abc import Iterator

from reenact.bug.beyond import needed_device
from reenact.bug.classify import RunOutcome
from reenact.bug.generate import Case
from reenact.bug.reproduction import Attempt, Reproduction, Verdict

MOST_SCRIPTS = 3
"""Scripts that are handed over, the last ones first."""


def tried_scripts(found: Reproduction) -> dict[str, str]:
    """The scripts that were run, by the name of their file: those that ran the project first."""
    return {f"tried_{number}.py": one.script for number, one in enumerate(_tried(found), start=1)}


def _tried(found: Reproduction) -> list[Attempt]:
    ran = {one.script: one for one in found.attempts if one.runs and one.script.strip()}
    exercised = [one for one in ran.values() if RunOutcome.NOTHING in one.outcomes]
    others = [one for one in ran.values() if one not in exercised]
    return [*reversed(exercised), *reversed(others)][:MOST_SCRIPTS]


def reply_text(found: Reproduction, case: Case) -> str:
    """The reply; empty where nothing was run, which is nothing to write to anybody about."""
    tried = _tried(found)
    if not tried:
        return ""
    at = f" at {found.commit[:12]}" if found.commit else ""
    opening = f"We could not reproduce it{at}: {found.reason}."
    if found.verdict is Verdict.UNDECIDABLE:
        opening = f"We cannot decide it on our machine{at}: {found.reason}."
    lines = [f"Thank you for the report. {opening}", ""]
    installed = ", ".join(found.packages[:8])
    if installed:
        lines += [f"Installed here: {installed}.", ""]
    lines += ["This ran:", "", "```python", tried[0].script.strip(), "```", ""]
    if tried[0].runs:
        lines += [f"What came of it: {tried[0].runs[0].sentence}", ""]
    asked = list(_missing(found, case))
    lines += ["Could you tell us:", "", *(f"- {one}" for one in asked)]
    return "\n".join(lines) + "\n"


def _missing(found: Reproduction, case: Case) -> Iterator[str]:
    """What the report does not have and would decide it."""
    report = found.report
    versions = {one.package.lower() for one in report.environment} if report is not None else set()
    if not case.crashes and case.symptom.raised is not None:
        yield "the whole traceback, from the first line to the last"
    if "python" not in versions:
        yield "your version of Python, and your operating system"
    lacking = sorted(
        name
        for name in (one.partition("==")[0] for one in found.packages[:8])
        if name.lower() not in versions
    )
    if lacking:
        yield f"your versions of {', '.join(lacking[:4])}"
    if not any(
        f"import {name}" in case.raw or f"from {name}" in case.raw for name in _modules(case)
    ):
        yield "a script that shows it from its first import to its last line"
    if case.symptom.is_silent:
        yield "the value that you see, and the one that you expect"
    if device := needed_device(case.symptom):
        yield f"what the script above prints on your machine with {device}, and without it"
    yield "what you do differently from the script above"


def _modules(case: Case) -> frozenset[str]:
    return case.buggy.files.packages
