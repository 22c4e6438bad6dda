"""The judgement of a diagnosis: one of four, from which its sentence, its exit code and every list
derive.

"No fault found" is about what was seen alone: a program that did not start, trained nothing or
broke the probe is not judged, and a training with grave symptoms is broken whether or not a
detector names the cause.
"""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from reenact.diagnosis.options import Depth
from reenact.faults.observation import Certainty, Severity
from reenact.plain import in_a_row, plain_line
from reenact.probe.outcome import OutcomeKind
from reenact.program.graph import TaskType
from reenact.types import ExitCode

if TYPE_CHECKING:
    from reenact.faults.evidence import Evidence
    from reenact.faults.finding import Finding

ORDERLY = (OutcomeKind.FINISHED, OutcomeKind.STOPPED)
"""Endings that need no mention next to a judged training."""
FEW_STEPS = 30
"""Below this a training has hardly begun."""
DEEPER = {
    Depth.STATIC: Depth.QUICK,
    Depth.QUICK: Depth.NORMAL,
    Depth.NORMAL: Depth.DEEP,
}


class Judgement(StrEnum):
    """What a diagnosis comes to."""

    FINDINGS = "findings"
    """A detector names something that is wrong, at or above the threshold."""
    BROKEN = "broken"
    """The training failed, by symptoms of level error or by its own course; no detector names
    the cause.
    """
    SOUND = "sound"
    """A training was seen (or, at depth static, the text was read) and nothing speaks against
    it.
    """
    UNJUDGED = "unjudged"
    """There was nothing to judge: no start, no training, a text that cannot be parsed, a broken
    probe.
    """

    @property
    def exit_code(self) -> ExitCode:
        if self in (Judgement.FINDINGS, Judgement.BROKEN):
            return ExitCode.FOUND
        return ExitCode.OK if self is Judgement.SOUND else ExitCode.INCONCLUSIVE


def on_stand_in(names: Sequence[str], sentence: str) -> str:
    """A sentence of a result, which says where the data was made up."""
    return f"On stand-in data for {', '.join(names)}: {sentence}" if names else sentence


@dataclass(frozen=True, slots=True)
class Conclusion:
    """What a diagnosis comes to, for readers who have not the evidence any more."""

    judgement: Judgement
    sentence: str
    next_command: str
    task: TaskType


@dataclass(frozen=True, slots=True)
class Shown:
    """What a diagnosis shows, and how far it looked."""

    evidence: Evidence
    depth: Depth
    threshold: float
    symptoms: Sequence[Finding]
    findings: int
    """At or above the threshold."""
    proven: int
    """Of these."""
    confirmed: int
    """Of these, by training."""
    changes: int
    """Of these, how many say what to change."""


def conclusion_of(shown: Shown) -> Conclusion:
    """As it follows from the evidence."""
    evidence = shown.evidence
    judged = _judgement(shown)
    sentence = on_stand_in(evidence.stand_in_data, _sentence(shown, judged))
    command = _next_command(judged, shown)
    return Conclusion(judged, sentence, command, evidence.task)


def _judgement(found: Shown) -> Judgement:
    """What findings, symptoms and evidence come to together."""
    if found.findings:
        return Judgement.FINDINGS
    from reenact.faults.confidence import Health
    from reenact.faults.health import health_of

    evidence = found.evidence
    symptoms = found.symptoms
    threshold = found.threshold
    health = health_of(evidence)
    # A symptom counts where a training is not seen to learn; one that is proven, a crash, needs
    # none.
    counts = health in (Health.FAILS, Health.UNSEEN)
    proof = health is not Health.WORKS
    errors = grave_symptoms(symptoms, threshold)
    grave = [one for one in errors if counts or (proof and one.certainty is Certainty.PROOF)]
    output = evidence.output.name if evidence.output is not None else ""
    # Not that of one hidden layer.
    of_all = any(not one.layer or one.layer == output for one in grave)
    if of_all or (grave and not _goes_on(evidence)):
        return Judgement.BROKEN
    shown = any(one.confidence >= threshold for one in symptoms)
    if found.depth.runs and shown and health is Health.FAILS and not _goes_on(evidence):
        return Judgement.BROKEN
    return Judgement.UNJUDGED if why_unjudged(evidence, found.depth) else Judgement.SOUND


def _sentence(found: Shown, judgement: Judgement) -> str:
    evidence = found.evidence
    depth = found.depth
    early = _stopped_early(evidence)
    match judgement:
        case Judgement.FINDINGS:
            proven = f", {found.proven} proven" if found.proven else ""
            confirmed = f", {found.confirmed} confirmed by training" if depth.intervenes else ""
            return f"{counted(found.findings, 'finding')}{proven}{confirmed}{early}."
        case Judgement.BROKEN:
            seen = accusing_symptoms(judgement, found.symptoms, found.threshold)
            deeper = f" Try --depth {DEEPER[depth]}." if depth in DEEPER else ""
            symptoms = counted(len(seen), "symptom")
            return f"Training looks broken ({symptoms}){early}, cause not identified.{deeper}"
        case Judgement.UNJUDGED:
            return f"Nothing could be judged: {why_unjudged(evidence, depth)}."
        case Judgement.SOUND if not depth.runs:
            return "No detector fires on the text. Nothing was run (--depth static)."
        case Judgement.SOUND if unchecked := evidence.experiments.unchecked:
            # What a busy machine or slow steps left out may be what is wrong.
            return (
                f"Nothing was found at depth {depth}{early}, and not all was checked: there was no "
                f"time for {in_a_row(unchecked)}."
            )
        case Judgement.SOUND if early:
            return f"No fault found at depth {depth}{early}.{_unexplained(found)}"
        case Judgement.SOUND:
            outcome = evidence.outcome
            steps = evidence.trace.step_count if evidence.trace is not None else 0
            ended = outcome.sentence if outcome is not None and outcome.kind not in ORDERLY else ""
            seen_in = f" in the {counted(steps, 'step')} seen. {ended}" if ended else "."
            return f"No fault found at depth {depth}{seen_in}{_unexplained(found)}"


def _unexplained(found: Shown) -> str:
    """What was seen of a sound training that a reader would take for an objection, and what it is
    worth; empty for nothing.
    """
    grave = grave_symptoms(found.symptoms, found.threshold)
    if not grave:
        return ""
    names = in_a_row(one.first.name for one in grave)
    return f" By itself, what was seen is not a fault: {names}."


def _stopped_early(evidence: Evidence) -> str:
    """How much was seen, where the user ended the training; else empty."""
    if evidence.outcome is None or not evidence.outcome.by_user:
        return ""
    steps = evidence.trace.step_count if evidence.trace is not None else 0
    return f" in the {counted(steps, 'step')} seen, stopped by you"


def counted(number: int, what: str) -> str:
    return f"{number} {what}{'' if number == 1 else 's'}"


def grave_symptoms(
    symptoms: Sequence[Finding],
    threshold: float,
) -> tuple[Finding, ...]:
    """Those that say by themselves that the training failed."""
    shown = (one for one in symptoms if one.confidence >= threshold)
    return tuple(one for one in shown if one.severity is Severity.ERROR)


def accusing_symptoms(
    judgement: Judgement,
    symptoms: Sequence[Finding],
    threshold: float,
) -> tuple[Finding, ...]:
    """Those that speak against a training: grave ones, else all that are shown; of a sound one
    none does.
    """
    if judgement is Judgement.SOUND:
        return ()
    grave = grave_symptoms(symptoms, threshold)
    if judgement is Judgement.BROKEN and not grave:
        return tuple(one for one in symptoms if one.confidence >= threshold)
    return grave


def _goes_on(evidence: Evidence) -> bool:
    """Whether a training gets better, or has hardly begun, whatever stands still in one of its
    layers.
    """
    from reenact.faults.facts.measured import loss_halved

    steps = evidence.trace.step_count if evidence.trace is not None else 0
    return 0 < steps < FEW_STEPS or loss_halved(evidence)


def why_unjudged(evidence: Evidence, depth: Depth) -> str:
    """Why there is nothing to judge, as the end of a sentence; empty when there is something."""
    trace = evidence.trace
    if not depth.runs:
        return unparsed(evidence)
    if trace is not None and (broken := trace.happened("probe-off")):
        return f"the probe broke ({broken[0].facts.get('sentence') or 'no reason was recorded'})"
    if trace is not None and (trace.step_count > 0 or trace.metrics):
        return ""
    if cannot := unparsed(evidence):
        return cannot
    outcome = evidence.outcome
    if outcome is None:
        return "nothing was run, and no training was recorded"
    if outcome.kind is OutcomeKind.NOT_STARTED:
        return outcome.note
    ended = outcome.sentence[:1].lower() + outcome.sentence[1:].rstrip(".")
    if outcome.kind is OutcomeKind.NO_TRAINING:
        return ended
    return f"{ended} before any training step was seen"


def unparsed(evidence: Evidence) -> str:
    """The file that cannot be parsed and why; empty when all can."""
    files = evidence.program.unparsed if evidence.program is not None else ()
    if not files:
        return ""
    return f"{plain_line(str(files[0].path))} could not be parsed ({files[0].unparsed})"


def _next_command(judgement: Judgement, shown: Shown) -> str:
    """The command that leads on; empty when nothing is left to do."""
    evidence = shown.evidence
    depth = shown.depth
    program = (
        shlex.join(evidence.program.launch.words) if evidence.program is not None else "PROGRAM"
    )
    if judgement is Judgement.FINDINGS:
        trained = evidence.trace is not None and evidence.trace.step_count
        return f"reenact repair {program}" if shown.changes and trained else ""
    if judgement is Judgement.BROKEN:
        return f"reenact diagnose --depth {DEEPER[depth]} {program}" if depth in DEEPER else ""
    if judgement is Judgement.SOUND and not depth.runs:
        return f"reenact diagnose {program}"
    if judgement is not Judgement.UNJUDGED:
        return ""
    return _after_nothing(evidence, program)


def _after_nothing(evidence: Evidence, program: str) -> str:
    """Where nothing could be judged."""
    kind = evidence.outcome.kind if evidence.outcome is not None else None
    if kind is OutcomeKind.NOT_STARTED:
        return f"reenact diagnose --python PATH_OF_AN_INTERPRETER {program}"
    if evidence.outcome is not None and evidence.outcome.stand_in_exists:
        return f"reenact diagnose --stand-in-data {program}"
    if kind is OutcomeKind.TIMEOUT:
        return f"reenact diagnose --max-time MORE_SECONDS {program}"
    if kind is OutcomeKind.INTERRUPTED:
        return f"reenact diagnose {program}"
    if unparsed(evidence) or kind is OutcomeKind.NO_TRAINING:
        return (
            f"reenact lint {evidence.program.entry if evidence.program is not None else ''}".strip()
        )
    if kind is OutcomeKind.EXITED:
        # It would end in the same way again; 2 is the code of a wrong command line.
        given = evidence.program.launch.arguments if evidence.program is not None else ()
        usage = evidence.outcome is not None and evidence.outcome.exit_code == ExitCode.ERROR
        return f"reenact diagnose {program} ARGUMENTS" if usage and not given else ""
    return f"reenact watch {program}"
