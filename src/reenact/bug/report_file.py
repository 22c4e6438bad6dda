"""REPORT.md: what was seen, where, with which seeds and versions, and what was tried on the way."""

from __future__ import annotations

from collections.abc import Iterator

from reenact.bug.reproduction import Attempt, Reproduction
from reenact.plain import plain

FRAMES = 12
SHOWN = 30
"""Attempts that are listed, from the end."""


def report_text(found: Reproduction) -> str:
    """The whole file."""
    return plain("\n".join(_lines(found))) + "\n"


def _lines(found: Reproduction) -> Iterator[str]:
    yield f"# {_flat(found.title)}\n"
    yield f"**{found.verdict.value}**: {found.reason}.\n"
    yield f"- report: {_flat(found.source)}"
    yield f"- project: {_flat(found.repository)} at {found.commit or 'no commit'}"
    if found.fixed:
        yield f"- fixed: {found.fixed}"
    yield f"- trail: `reenact runs show {found.run_id}`\n"
    yield "## What must be seen\n"
    yield _block(found.must_be_seen)
    if found.showing is not None:
        yield from _evidence(found, found.showing)
    if found.written and "repro.py" in found.written:
        yield "## How to see it\n"
        yield "`repro.py` exits 1 when the bug shows, 0 when it does not, 125 when it cannot be run:\n"
        yield _block(
            "cd PROJECT && pip install -r requirements.txt\npython repro.py\ngit bisect run python repro.py"
        )
    if found.findings:
        yield "## What `reenact diagnose` reads in the training programs\n"
        yield from (f"- {_flat(finding)}" for finding in found.findings)
        yield ""
    yield "## Installed\n"
    yield _block("\n".join(found.packages) or "nothing but Python")
    if found.contexts:
        yield "## Contexts\n"
        yield from (f"{number}. {_flat(text)}" for number, text in enumerate(found.contexts, start=1))
        yield ""
    yield "## Attempts\n"
    yield from _attempts(found.attempts)
    if found.notes:
        yield "\n## Notes\n"
        yield from (f"- {_flat(note)}" for note in found.notes)


def _evidence(found: Reproduction, showing: Attempt) -> Iterator[str]:
    shown = found.shown
    if shown is None:
        yield "## Not run\n\nThe script was not executed, so nothing was seen.\n"
        return
    seen = shown.observation
    yield "## What was seen\n"
    yield _block(shown.sentence)
    if seen.project_frames:
        yield "In project code, innermost last:\n"
        yield _block("\n".join(map(str, seen.project_frames[-FRAMES:])))
    yield "| seed | on the reported revision | on the fixed revision |\n|---|---|---|"
    fixed = {run.seed: run.outcome.value for run in showing.fixed_runs}
    for run in showing.runs:
        yield f"| {run.seed} | {run.outcome.value} | {fixed.get(run.seed, 'not run')} |"
    versions = ", ".join(f"{name} {version}" for name, version in seen.versions.items())
    yield f"\nVersions: {versions or 'unknown'}.\n"
    if found.minimised is not None:
        made = found.minimised
        yield f"Script: {made.lines_before} lines, {made.lines_after} after {made.runs} runs. {made.note}\n"


def _attempts(attempts: tuple[Attempt, ...]) -> Iterator[str]:
    yield "| context | script | stopped at | why |\n|---|---|---|---|"
    for one in attempts[-SHOWN:]:
        why = _flat(one.reasons[0])[:200].replace("|", "/") if one.objections else "it shows the symptom"
        yield f"| {one.context + 1} | {one.number + 1} | {one.stage.value if one.stage else '-'} | {why} |"


def _flat(text: str) -> str:
    """One line that Markdown takes for words."""
    flat = " ".join(text.split())
    return flat.replace("<", "&lt;").replace("`", "'").replace("[", "\\[")


def _block(text: str) -> str:
    """A block that shows its text as it is."""
    return "\n".join(f"    {line}" for line in text.splitlines()) + "\n"
