"""The fixes of a diagnosis, each executed before it is shown.

The program and its edits run side by side for a few steps. An edit is the fix where the detector that
fired on the program is silent, no other proven fault is new, the program steps on, and the books are
otherwise unchanged. What could not be shown so is called not tried, with the reason; an edit that was seen
to fail is not a fix.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeAlias

from reenact.diagnosis.fixes.kept import difference, may_change
from reenact.diagnosis.fixes.scratch import Length, Scratch, ScratchRun
from reenact.diagnosis.fixes.spoken import fires, objection
from reenact.diagnosis.fixes.text import TextCheck
from reenact.errors import StorageError
from reenact.faults.agreement import FindingKey
from reenact.faults.evidence import Evidence
from reenact.faults.finding import Finding
from reenact.faults.fix import DroppedFix, Fix, FixTried
from reenact.faults.observation import Observes
from reenact.program.patch import Patch

MOST = 3
"""Findings whose fix is tried in one diagnosis."""
MOST_EDITS = 3
"""Edits that are tried for each of them."""
WHOLE = 8.0
"""Seconds of a training that is run to its end."""
LEAST_STEPS = 30
"""Steps that are run of a longer one, at the least: detectors need some."""
LEAST_SECONDS = 20.0
"""Wall time of one run, at the least, on a machine that does nothing else."""
AS_LONG = 3.0
"""A run may take so many times what it should."""
ALL_SECONDS = 60.0
"""Wall time of all runs together, on a machine that does nothing else."""
EXPERIMENT_SECONDS = 0.8
"""CPU time of each small experiment, as next to the watched run."""
OF_A_MODEL = "an edit of a model runs in a sandbox only"
BEYOND = f"{MOST} other fixes were tried"
NO_TIME = "no time was left"


def length_for(evidence: Evidence, contention: float) -> Length:
    """How far the edits of a watched program are run."""
    trace = evidence.trace
    seconds = trace.seconds if trace is not None else WHOLE
    steps: int | None = None
    expected = seconds
    if seconds > WHOLE and trace is not None and trace.step_count > LEAST_STEPS:
        steps = max(LEAST_STEPS, round(trace.step_count * WHOLE / seconds))
        expected = seconds * steps / trace.step_count
    most = max(LEAST_SECONDS, AS_LONG * expected) * contention
    return Length(most, steps, EXPERIMENT_SECONDS)


Wanted: TypeAlias = Sequence[tuple[Finding, list[Patch]]]
"""Findings and the edits of each that are to be tried."""


@dataclass(frozen=True, slots=True)
class Judged:
    """What became of the edits of one finding."""

    fix: Fix | None
    dropped: tuple[DroppedFix, ...] = ()


@dataclass
class _Case:
    """A finding whose edits are tried one after the other."""

    finding: Finding
    edits: list[Patch]
    dropped: list[DroppedFix] = field(default_factory=list)
    fix: Fix | None = None

    @property
    def judged(self) -> Judged:
        return Judged(self.fix, tuple(self.dropped))


def worth_trying(findings: Sequence[Finding], check: TextCheck) -> Wanted:
    """The first findings with an edit to which the text has no objection, and these edits."""
    found: list[tuple[Finding, list[Patch]]] = []
    for one in findings:
        if len(found) < MOST and (edits := _edits(one, check)):
            found.append((one, edits))
    return found


def _edits(finding: Finding, check: TextCheck) -> list[Patch]:
    if finding.fix is not None:
        return []
    patches = (one.patch for one in finding.edits)
    fitting = (one for one in patches if not one.is_code and not check.objection(finding, one))
    return [patch for patch, _ in zip(fitting, range(MOST_EDITS), strict=False)]


def try_edits(wanted: Wanted, check: TextCheck, scratch: Scratch) -> list[Judged]:
    """What running them shows, finding by finding."""
    cases = [_Case(finding, list(edits)) for finding, edits in wanted]
    experiments = any(_by_experiment(one.finding) for one in cases)
    before: ScratchRun | None = None
    while pending := [one for one in cases if one.edits and one.fix is None]:
        patches = [one.edits.pop(0) for one in pending]
        asked = patches if before is not None else [Patch(), *patches]
        try:
            runs = scratch.runs(asked, experiments=experiments)
        except StorageError as error:
            _give_up(pending, patches, check, error.sentence.rstrip("."))
            break
        if before is None:
            before, *runs = runs
        for case, patch, after in zip(pending, patches, runs, strict=True):
            _judge(case, patch, before, after, check)
    return [one.judged for one in cases]


def _by_experiment(finding: Finding) -> bool:
    """Whether a finding needs the small experiments to be seen."""
    return finding.headline.observes is Observes.EXPERIMENT


def _judge(
    case: _Case, patch: Patch, before: ScratchRun, after: ScratchRun, check: TextCheck
) -> None:
    """An edit becomes the fix of its finding, or is dropped."""
    if after.was_cut_off or before.was_cut_off:
        case.fix = check.fix(patch, case.finding, FixTried.NOT_TRIED, NO_TIME)
    elif against := _against(case.finding, patch, before, after):
        case.dropped.append(DroppedFix(patch, against))
    elif not after.kept.steps:
        case.fix = check.fix(patch, case.finding, FixTried.NOT_TRIED, "the program takes no step")
    elif lost := sorted(before.tests - after.tests):
        gone = f"the experiment {lost[0]} could not be done with it"
        case.fix = check.fix(patch, case.finding, FixTried.NOT_TRIED, gone)
    elif not fires(case.finding, before.spoken):
        ran = f"it ran {after.kept.steps} steps, in which {case.finding.code} does not fire without it"
        case.fix = check.fix(patch, case.finding, FixTried.NOT_TRIED, ran)
    else:
        ran = f"{after.kept.steps} steps in a scratch copy"
        case.fix = check.fix(patch, case.finding, FixTried.SILENT, ran)


def _against(finding: Finding, patch: Patch, before: ScratchRun, after: ScratchRun) -> str:
    """Why an edit that ran is not a fix; empty where it is one."""
    if not after.steps_on and (before.steps_on or (after.fails and not after.kept.steps)):
        return after.ending
    if speaks := objection(finding, before.spoken, after.spoken):
        return speaks
    if not before.kept.steps:
        return ""
    if not before.steps_on:
        return after.ending if after.kept.steps < before.kept.steps else ""
    return difference(before.kept, after.kept, may_change(finding.code, patch))


def _give_up(cases: Sequence[_Case], patches: Sequence[Patch], check: TextCheck, why: str) -> None:
    for case, patch in zip(cases, patches, strict=True):
        case.fix = check.fix(patch, case.finding, FixTried.NOT_TRIED, why)


def with_fixes(
    findings: Sequence[Finding], check: TextCheck, judge: Callable[[Wanted], Sequence[Judged]]
) -> dict[FindingKey, Finding]:
    """Those findings that have an edit, with what became of it; `judge` runs the first of them. They
    are given in the order in which they are listed.
    """
    wanted = worth_trying(findings, check)
    found = {
        finding.key: with_judged(check.without_refused(finding), one)
        for (finding, _), one in zip(wanted, judge(wanted) if wanted else (), strict=True)
    }
    reason = BEYOND if len(wanted) == MOST else OF_A_MODEL
    for one in findings:
        if one.key not in found and one.edits and one.fix is None:
            found[one.key] = check.fixed(one, FixTried.NOT_TRIED, reason)
    return found


def with_judged(finding: Finding, judged: Judged) -> Finding:
    """The finding with what became of its edits."""
    return replace(finding, fix=judged.fix, dropped_fixes=(*finding.dropped_fixes, *judged.dropped))
