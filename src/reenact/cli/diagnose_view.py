"""What a diagnosis looks like on a page: the findings, the curves and layers, what is less likely."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from reenact.cli.diagnose_evidence import evidence_pictures
from reenact.cli.diagnose_pictures import curves, heat_maps
from reenact.cli.diagnose_source import source_lines
from reenact.cli.diagnose_words import headline, reasons, seen, tried_words
from reenact.diagnosis.diagnosis import Diagnosis, DiagnosisFinding, InterventionResult
from reenact.diagnosis.suspects import Suspect
from reenact.program.graph import TensorFacts
from reenact.report.rule_pages import rule_help
from reenact.report.sheet import Block, Facts, Level, Notice, Picture, Sheet, Text
from reenact.report.svg import number
from reenact.rules.evidence import Evidence
from reenact.rules.experiments import Experiments
from reenact.rules.finding import Severity
from reenact.types import Table

FAINT = 0.3
"""Suspects below this that nobody tried are not listed."""
LEVELS = {Severity.ERROR: Level.ERROR, Severity.WARNING: Level.WARNING, Severity.NOTE: Level.NOTE}


def diagnosis_sheet(found: Diagnosis, title: str) -> Sheet:
    """The whole answer."""
    blocks: list[Block] = [_run(found), *_data(found.evidence), *curves(found), *heat_maps(found)]
    if found.doubts:
        blocks.append(_doubts(found.doubts))
    if found.symptoms:
        blocks.append(_symptoms(found.symptoms, reasons_too=not found.accusations))
    if found.notes:
        blocks.append(Text("\n".join(found.notes), "Not done, or not seen"))
    if found.next_command:
        blocks.append(Text(found.next_command, "Next"))
    return Sheet(
        kind="diagnose",
        title=f"Diagnosis of {title}",
        verdict=found.sentence,
        blocks=tuple(blocks),
        notices=tuple(_notices(found)),
        data=found.to_json(),
        reused=found.reused,
        exit_code=found.exit_code,
    )


def _run(found: Diagnosis) -> Facts:
    evidence, spent = found.evidence, found.spent
    facts = {"depth": found.depth.value, "task": evidence.task.value}
    if evidence.outcome is not None:
        facts["watched run"] = evidence.outcome.sentence
    if found.measure is not None:
        facts["judged by"] = found.measure.name
    if spent.trainings:
        facts["trainings"] = f"{spent.trainings}, {spent.cpu_seconds:.0f} s of CPU time"
    facts["time"] = f"{spent.seconds:.1f} s"
    return Facts("", tuple(facts.items()))


def _data(evidence: Evidence) -> Iterator[Facts]:
    """Inputs and labels of each split, where most of them were seen: every evaluation tells of them anew."""
    told = evidence.trace.data if evidence.trace is not None else ()
    kinds = dict.fromkeys((one.split, one.role) for one in told)
    most = [(f"{split} {role}", evidence.data(role, split)) for split, role in kinds]
    facts = tuple((name, _tensor(one)) for name, one in most if one is not None)
    if facts:
        yield Facts("Data", facts)


def _tensor(one: TensorFacts) -> str:
    shape = " x ".join("?" if size is None else str(size) for size in one.shape[1:]) or "one value"
    parts = [f"{shape} {one.dtype}"]
    if one.minimum is not None and one.maximum is not None:
        parts.append(f"{number(one.minimum)} to {number(one.maximum)}")
    if one.mean is not None and one.std is not None and one.classes is None:
        parts.append(f"mean {number(one.mean)}, deviation {number(one.std)}")
    if one.classes is not None:
        parts.append(f"{one.classes} classes")
    return ", ".join([*parts, f"{one.rows_seen} rows seen"])


def _doubts(doubts: Sequence[DiagnosisFinding]) -> Block:
    """What is less likely; the least likely are counted where nothing was tried."""
    shown = [
        one for one in doubts if one.confidence >= FAINT or one.standing is not InterventionResult.UNTRIED
    ]
    rows = tuple(
        (
            f"{one.suspect.first.code} {one.suspect.first.name}",
            one.suspect.first.fault.value if one.suspect.first.fault is not None else "-",
            str(one.suspect.place or one.suspect.layer or "-"),
            f"{one.confidence:.2f}",
            one.note or one.standing.value,
        )
        for one in shown
    )
    faint = len(doubts) - len(shown)
    if not rows:
        return Text(f"{faint} below a confidence of {FAINT}; --output-format json lists them.", "Less likely")
    title = f"Less likely, and {faint} below {FAINT}" if faint else "Less likely"
    return Table(title, ("rule", "fault", "where", "confidence", "tried"), rows)


def _symptoms(symptoms: Sequence[Suspect], *, reasons_too: bool) -> Table:
    """What was seen and accuses nobody; why it matters only where no finding explains it."""
    firsts = [one.first for one in symptoms]
    if reasons_too:
        rows = tuple((f"{one.code} {one.name}", seen(one), one.why) for one in firsts)
        return Table("Symptoms", ("rule", "seen", "why it matters"), rows)
    return Table("Symptoms", ("rule", "seen"), tuple((f"{one.code} {one.name}", seen(one)) for one in firsts))


def _notices(found: Diagnosis) -> Iterator[Notice]:
    """Every accusation; what a rule has said of another layer, or of a joint change, is not said again."""
    told: set[str] = set()
    changes: dict[str, str] = {}
    for one in found.accusations:
        first = headline(one.suspect)
        change = one.tried.patch.to_text() if one.tried is not None else ""
        yield _notice(one, found.evidence, again=first.code in told, together=changes.get(change, ""))
        told.add(first.code)
        if change:
            changes.setdefault(change, f"{first.code} {first.name}")


def _pictures(one: DiagnosisFinding, evidence: Evidence) -> tuple[Picture, ...]:
    """None where nothing was measured: what draws also loads what computes."""
    measured = evidence.trace is not None or one.tried is not None or evidence.experiments != Experiments()
    return evidence_pictures(one, evidence) if measured else ()


def _notice(one: DiagnosisFinding, evidence: Evidence, *, again: bool, together: str) -> Notice:
    first, place = headline(one.suspect), one.suspect.place
    fault = f"{first.fault.value} . " if first.fault is not None else ""
    explained = rule_help(first.code)
    tried = f" Tried: {tried_words(one.tried)}." if one.tried is not None else ""
    return Notice(
        code=first.code,
        name=first.name,
        level=LEVELS[first.severity],
        message=f"{seen(first)}. {first.why}{tried}",
        place=place,
        next_step=f"reenact explain {first.code}" if explained and not again else "",
        aside=f"{fault}confidence {one.confidence:.2f}",
        detail="\n".join(
            [
                *source_lines(place, evidence.program),
                *reasons(one, evidence.program, again=again, together=together),
            ]
        ),
        help=explained,
        pictures=() if together or (again and one.tried is None) else _pictures(one, evidence),
    )
