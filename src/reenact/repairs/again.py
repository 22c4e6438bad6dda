"""The changed program, watched again: what do the same detectors say of it?

One training of the changed program under the probe, as a trial. Detectors that read a trace, the model or
the text are asked again; those that need the small experiments are not, and what they proved counts as
gone where the change is about it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from reenact.diagnosis.judge import findings_of
from reenact.diagnosis.options import DiagnoseOptions
from reenact.errors import InputError, ReenactError
from reenact.faults.confidence import LIKELY, Health
from reenact.faults.detector import Needs
from reenact.faults.evidence import Evidence
from reenact.faults.finding import Finding
from reenact.faults.health import health_of
from reenact.faults.registry import detector
from reenact.journal import Kind, Scope
from reenact.program.patch import Patch
from reenact.program.program import Program
from reenact.program.static_graph import static_graph
from reenact.repairs.causes import Cause, is_proven, takes_away
from reenact.trials.metric import STEP_LOSS
from reenact.trials.reading import read_kept
from reenact.trials.trainer import BudgetedTrainer
from reenact.trials.trial import Outcome, Trial
from reenact.types import Stop

CLOSELY = "normal"
"""How closely the probe looks: as in a diagnosis."""


@dataclass(frozen=True, slots=True)
class SeenFinding:
    """A finding about the changed program, in short."""

    codes: tuple[str, ...]
    """Of all detectors that see it."""
    text: str
    """Of its line, without what is around it; empty where it has none."""
    is_proven: bool
    is_likely: bool


@dataclass(frozen=True, slots=True)
class SeenAgain:
    """What was seen of the changed program."""

    outcome: Outcome
    findings: tuple[SeenFinding, ...] = ()
    fails: bool = False
    """Whether its training is seen to fail."""
    first_loss: float | None = None
    """Of its first step."""
    note: str = ""
    """Why nothing was seen."""

    @property
    def is_known(self) -> bool:
        return not self.note

    def speaks(self, code: str) -> bool:
        """Whether this detector has a likely finding."""
        return any(code in one.codes for one in self.findings if one.is_likely)


def watch_again(
    patch: Patch, trainer: BudgetedTrainer, options: DiagnoseOptions, run: Scope
) -> SeenAgain:
    """The changed program, trained once under the probe; a step of the journal."""
    trial = replace(trainer.trial(patch, trainer.seeds[0]), preset=CLOSELY, keep_trace=True)

    def effect() -> SeenAgain:
        (outcome,) = trainer.executor.run([trial], stop=Stop(parent=trainer.stop))
        return _seen(trial, outcome, options)

    return run.step(
        f"again-{trial.content[:12]}",
        effect,
        kind=Kind.TRIAL,
        inputs={"trial": trial.key, "around": trainer.around},
        returns=SeenAgain,
    )


def remaining(
    causes: Sequence[Cause], patch: Patch, seen: SeenAgain, program: Program
) -> tuple[Cause, ...]:
    """The proven faults that are still there after a change."""
    return tuple(one for one in causes if not _is_gone(one, patch, seen, program))


def _is_gone(cause: Cause, patch: Patch, seen: SeenAgain, program: Program) -> bool:
    if not seen.is_known or not _can_be_asked(cause.finding):
        return takes_away(patch, cause)
    again = [one for one in seen.findings if one.is_proven and cause.finding.code in one.codes]
    if not again:
        return True
    text = line_of(cause.finding, program)
    # What is at another line of the changed program is another finding of the same detector.
    return takes_away(patch, cause) and all(one.text != text for one in again)


def _can_be_asked(finding: Finding) -> bool:
    """Whether its detector needs nothing but what a watched training shows."""
    try:
        return Needs.EXPERIMENTS not in detector(finding.code).needs
    except InputError:
        return False


def line_of(finding: Finding, program: Program) -> str:
    """The text of its line."""
    file = program.file(finding.file) if finding.file else None
    if file is None or finding.line is None:
        return ""
    text = program.script() if file is program.entry_file else file.text
    lines = text.splitlines()
    return lines[finding.line - 1].strip() if finding.line <= len(lines) else ""


def _seen(trial: Trial, outcome: Outcome, options: DiagnoseOptions) -> SeenAgain:
    short = replace(outcome, trace=None, curves={})
    losses = outcome.curve(STEP_LOSS)
    if not outcome.trained and outcome.crash is None:
        return SeenAgain(short, note=f"the changed program did not train: {outcome.note}")
    program = trial.patched
    try:
        trace = read_kept(trial, outcome)
    except ReenactError as error:
        return SeenAgain(short, note=error.sentence)
    evidence = Evidence(program, static_graph(program), trace=trace, stand_in_data=trial.stand_ins)
    found = [_in_short(one, program) for one in findings_of(evidence, options)]
    return SeenAgain(
        short,
        tuple(found),
        fails=health_of(evidence) is Health.FAILS,
        first_loss=losses[0][1] if losses else None,
    )


def _in_short(finding: Finding, program: Program) -> SeenFinding:
    codes = tuple(one.code for one in finding.observations)
    return SeenFinding(
        codes,
        line_of(finding, program),
        is_proven(finding),
        finding.confidence >= LIKELY,
    )
