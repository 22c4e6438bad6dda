"""What the reproduction of a paper looks like on a page."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import PurePosixPath

from reenact.paper.criterion import Criterion, Judged, Value
from reenact.paper.measure.curves.course import NOTHING
from reenact.paper.reproduction import Reproduction
from reenact.paper.write.report_file import (
    CLAIM_COLUMNS,
    CRITERION_COLUMNS,
    METRIC_COLUMNS,
    ROUND_COLUMNS,
    claim_cells,
    criterion_rows,
    facts_lines,
    mending_lines,
    metric_rows,
    round_cells,
)
from reenact.report.sheet import Block, Facts, Level, Notice, Picture, Sheet, Text
from reenact.report.traced import traced
from reenact.report.training_plots import training_plots
from reenact.types import Place, Table

CODE, NAME = "PR001", "criterion-not-met"


def reproduction_sheet(found: Reproduction) -> Sheet:
    """The whole answer."""
    criteria = Table("Criteria", CRITERION_COLUMNS, tuple(criterion_rows(found)))
    head = _head(found)
    return Sheet(
        kind="paper",
        title=head.title,
        verdict=head.verdict,
        blocks=(*head.blocks, criteria),
        notices=tuple(_notices(found)),
        data=found.to_json(),
        reused=found.reused_line,
        exit_code=found.verdict.exit_code,
    )


def reproduction_page(found: Reproduction) -> str:
    """The same as a page on which sentences and lines of code lead to one another."""
    criteria = found.fingerprint.criteria
    return traced(_head(found), found.paper, found.development.project, criteria, found.judged)


def _head(found: Reproduction) -> Sheet:
    verdict = f"{found.verdict.value[:1].upper()}{found.verdict.value[1:]}: {found.judgement.reason}"
    title = f"Paper: {found.paper.title}"
    return Sheet("paper", title, verdict, tuple(_blocks(found)), reused=found.reused_line)


def _blocks(found: Reproduction) -> Iterator[Block]:
    if found.comparisons:
        yield Table("Claims", CLAIM_COLUMNS, tuple(claim_cells(one) for one in found.comparisons))
    facts = [line.removeprefix("- ").partition(": ") for line in facts_lines(found)]
    written = [("written", f"{found.folder}/")] if found.folder is not None else []
    yield Facts("", (*((name, value) for name, _, value in facts), *written))
    if metrics := metric_rows(found):
        yield Table("Measured", METRIC_COLUMNS, tuple(metrics))
    yield from _training(found)
    if found.exemplars:
        yield Table("Lineage", ("key", "paper", "why", "code", "to know"), tuple(_lineage(found)))
    if found.mending is not None:
        yield Text("\n".join(mending_lines(found.mending)), "What the paper may not say")
        if found.mending.diff:
            yield Text(found.mending.diff, "The change", is_diff=True)
    rounds = tuple(round_cells(one) for one in found.development.rounds)
    if rounds:
        yield Table("Rounds", ROUND_COLUMNS, rounds)
    if found.every_note():
        yield Text("\n".join(found.every_note()), "Notes")


def _training(found: Reproduction) -> Iterator[Block]:
    """How the full runs trained, drawn where pictures can be."""
    drawn, said = training_plots(found.runs, found.comparisons)
    for one in drawn:
        title = f"Training: {one.plot.title}"
        yield Picture(title, one.plot.draw(f"{title}. {one.words}"), one.words)
    if found.runs and (said or not drawn):
        yield Text(said or NOTHING, "Training")


def _lineage(found: Reproduction) -> Iterator[tuple[str, ...]]:
    for one in found.exemplars:
        code = f"{one.repository} ({one.licence or 'no licence stated'})" if one.repository else "none found"
        files = f"{code}: {', '.join(file.path for file in one.files) or 'no file'}"
        yield one.key, one.title, one.why, files, " ".join(one.notes)


def _notices(found: Reproduction) -> Iterator[Notice]:
    """One notice a criterion that the code fails, at the line that shows it."""
    judged = {one.criterion: one for one in found.judged}
    for criterion in found.fingerprint.criteria:
        one = judged.get(criterion.id)
        if one is not None and one.value is Value.FAIL:
            yield _notice(criterion, one)


def _notice(criterion: Criterion, one: Judged) -> Notice:
    line = one.lines[0] if one.lines else None
    return Notice(
        CODE,
        NAME,
        Level.WARNING,
        f"{criterion.id}: {criterion.fact} {one.reason}",
        place=Place(PurePosixPath(line.file), line.line) if line is not None else None,
        aside=f"the paper, {', '.join(criterion.places)}: {criterion.quote[:120]}",
    )
