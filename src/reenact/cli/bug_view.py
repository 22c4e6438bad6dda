"""What a reproduction looks like on a page."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import PurePosixPath

from reenact.bug.report import symptom_words
from reenact.bug.reproduction import Attempt, Reproduction, SeedRun, Verdict
from reenact.report.sheet import Block, Facts, Level, Notice, Sheet, Text
from reenact.types import Place, Table

CODE, NAME = "BG001", "bug-shown"
LEVELS = {Verdict.REPRODUCED: Level.ERROR, Verdict.SHOWN: Level.WARNING}
FRAMES = 8
SHOWN = 30


def reproduction_sheet(found: Reproduction) -> Sheet:
    """The whole answer."""
    return Sheet(
        kind="bug",
        title=f"Bug: {found.title}",
        verdict=f"{found.verdict.value[:1].upper()}{found.verdict.value[1:]}: {found.reason}.",
        blocks=tuple(_blocks(found)),
        notices=tuple(_notices(found)),
        data=found.to_json(),
        reused=found.reused,
        exit_code=found.verdict.exit_code,
    )


def _blocks(found: Reproduction) -> Iterator[Block]:
    yield _facts(found)
    yield Text(symptom_words(found.symptom), "What must be seen")
    shown = _shown(found)
    if shown is not None and shown.sighting.project_frames:
        frames = "\n".join(map(str, shown.sighting.project_frames[-FRAMES:]))
        yield Text(frames, "In project code, innermost last")
    if found.script:
        yield Text(found.script.rstrip("\n"), "The script")
    if not found.script or len(found.attempts) > 1:
        yield Table("Attempts", ("context", "script", "stopped at", "why"), tuple(_rows(found.attempts)))
    if found.findings:
        yield Text("\n".join(found.findings), "What `reenact diagnose` reads in the training programs")
    if found.notes:
        yield Text("\n".join(found.notes), "Notes")


def _facts(found: Reproduction) -> Facts:
    facts = {"project": f"{found.repository} {found.commit[:12]}".strip()}
    if found.fixed:
        facts["fixed"] = found.fixed[:12]
    shown, runs = found.seeds
    if runs:
        facts["seeds"] = f"{shown} of {runs}"
    facts["scripts"] = f"{len(found.attempts)}"
    if found.minimised is not None and found.minimised.lines_after < found.minimised.lines_before:
        made = found.minimised
        facts["made shorter"] = f"{made.lines_before} to {made.lines_after} lines in {made.runs} runs"
    facts["model"] = f"{found.tokens} tokens, {'price unknown' if found.money is None else f'${found.money}'}"
    facts["time"] = f"{found.seconds:.0f} s"
    if found.folder is not None:
        facts["written"] = f"{found.folder}/: {', '.join(found.written)}"
    return Facts("", tuple(facts.items()))


def _rows(attempts: tuple[Attempt, ...]) -> Iterator[tuple[str, ...]]:
    for one in attempts[-SHOWN:]:
        why = " ".join(str(one.objections[0]).split())[:240] if one.objections else "it shows the symptom"
        yield str(one.context + 1), str(one.number + 1), one.stage.value if one.stage else "-", why


def _notices(found: Reproduction) -> Iterator[Notice]:
    """One notice where the symptom was seen: at the innermost line of the project."""
    shown = _shown(found)
    if shown is None or found.verdict not in LEVELS:
        return
    frames = shown.sighting.project_frames
    place = Place(PurePosixPath(frames[-1].file), frames[-1].line) if frames else None
    yield Notice(
        CODE,
        NAME,
        LEVELS[found.verdict],
        f"{found.title}: {shown.seen.sentence}",
        place=place,
        aside=found.verdict.value,
        next_step=f"cd PROJECT && python {found.folder.absolute()}/repro.py" if found.folder else "",
    )


def _shown(found: Reproduction) -> SeedRun | None:
    runs = found.showing.runs if found.showing is not None else ()
    return next((run for run in runs if run.shows), None)
