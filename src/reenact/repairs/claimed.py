"""Claims of a model that a diagnosis has tested: their edits are verified over fresh seeds, in the sandbox.

The gates of a claim have been passed when it comes here: red on the program, green after the edit. What is
left is the effect, measured as `diagnose --depth normal` does: rows and steps frozen, then both programs over
fresh seeds, all of it in a box, since a model wrote the edit.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, fields
from statistics import median

from reenact.claims.verdict import ClaimVerdict, MetricEffect, Moved
from reenact.diagnosis.diagnosis import Diagnosis
from reenact.diagnosis.hypothesis import FRESH_SEEDS, HypothesisOptions, Tester
from reenact.diagnosis.options import TrainingOptions
from reenact.errors import ReenactError
from reenact.journal import Scope
from reenact.repairs.options import RepairOptions
from reenact.repairs.prepare import RepairServices
from reenact.repairs.verdict import Decision, Verdict
from reenact.trials.statistics import compare
from reenact.trials.trainer import BudgetedTrainer

MOST_CLAIMS = 2


@dataclass(frozen=True, slots=True)
class Claimed:
    """What became of the edits of claims."""

    verdict: Verdict | None = None
    notes: tuple[str, ...] = ()


def claimed(
    found: Diagnosis,
    options: RepairOptions,
    services: RepairServices,
    run: Scope,
    judge: BudgetedTrainer,
) -> Claimed:
    """The first claim that is a finding and whose edit moves the metric as was expected of it."""
    tested = [one for one in found.hypotheses if one.status.counts][:MOST_CLAIMS]
    if not tested or services.sandbox is None:
        return Claimed()
    try:
        box = services.sandbox()
    except ReenactError as error:
        return Claimed(notes=(f"The edits of claims were not tried. {error.sentence}",))
    given = {one.name: getattr(options, one.name) for one in fields(TrainingOptions)}
    given["metric"] = judge.measure.name
    tester = Tester(found.evidence, HypothesisOptions(**given), services, box)
    notes: list[str] = []
    for number, one in enumerate(tested, 1):
        measured = tester.measured(one, run.under(f"claim-{number}"))
        verdict = verdict_of_claim(measured, judge)
        if verdict is not None:
            return Claimed(verdict, tuple(notes))
        notes.append(f"Not taken: the edit of a claim: {measured.reason}")
    return Claimed(notes=tuple(notes))


def verdict_of_claim(measured: ClaimVerdict, judge: BudgetedTrainer) -> Verdict | None:
    """That on its edit; none where it is not a finding any more, or its effect is not seen."""
    effect = measured.effect
    if effect is None or effect.moved is not Moved.AS_EXPECTED or not measured.status.counts:
        return None
    before, after = _oriented(effect, judge)
    decision = Decision.IMPROVED
    if measured.claim.about.is_correctness or judge.is_good_enough(median(after)):
        decision = Decision.REPAIRED
    return Verdict(
        patch=measured.claim.patch,
        seeds=FRESH_SEEDS[: len(before)],
        before=effect.before,
        after=effect.after,
        comparison=compare(before, after),
        p_value=effect.p_value if effect.p_value is not None else math.nan,
        decision=decision,
    )


def _oriented(
    effect: MetricEffect, judge: BudgetedTrainer
) -> tuple[Sequence[float], Sequence[float]]:
    sign = 1.0 if judge.measure.larger_is_better else -1.0
    before, after = (
        tuple(sign * value if math.isfinite(value) else -math.inf for value in values)
        for values in (effect.before, effect.after)
    )
    return before, after
