"""What came of a repair: before and after over fresh seeds, the decision, and how it was found.

A change is searched on one part of the evaluation data and judged on the other. Where the data can
be taken apart, each gets a half; where the program measures on validation and on test data, the one
chooses and the other judges; else both are the same data, and only the seeds are fresh, and the
report says so.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from operator import ne
from statistics import fmean, stdev
from typing import NamedTuple, TypedDict

from reenact.diagnosis.judgement import on_stand_in
from reenact.program.patch import Patch
from reenact.repairs.causes import ProvenFault
from reenact.repairs.minimise import ReductionStep
from reenact.repairs.search_context import Evaluation
from reenact.result import Result, rounded
from reenact.trials.budget import TrainingUsage
from reenact.trials.metric import Measure
from reenact.trials.statistics import PairedSamples, detectable_words
from reenact.trials.trial import Curve, Outcome, Part
from reenact.trials.verify import SIGNIFICANT
from reenact.types import ExitCode


class JudgingJson(TypedDict):
    """How candidates are judged, as JSON."""

    search: str
    judge: str
    larger_is_better: bool
    held_out: bool
    sentence: str


@dataclass(frozen=True, slots=True)
class Judging:
    """How candidates are chosen and how the final one is judged."""

    search: Measure
    judge: Measure
    search_part: Part
    judge_part: Part
    sentence: str
    """What is held out, in words."""

    def json_fields(self) -> JudgingJson:
        return {
            "search": self.search.name,
            "judge": self.judge.name,
            "larger_is_better": self.judge.larger_is_better,
            "held_out": self.held_out,
            "sentence": self.sentence,
        }

    @property
    def held_out(self) -> bool:
        return self.search_part is not self.judge_part or self.search != self.judge


def judging_by(measure: Measure, halved: Outcome) -> Judging:
    """`halved` is a training of the unchanged program that was asked to measure on the
    search half.
    """
    if measure.read(halved) is None:
        # A program that prints `nan` does not tell where the metric is when it does well.
        measure = replace(measure, source=None)
    if halved.halved and measure.name in halved.metrics:
        sentence = "searched on one half of the evaluation data, judged on the other"
        return Judging(measure, measure, Part.SEARCH, Part.JUDGE, sentence)
    name = measure.name.replace("test_", "val_", 1)
    known = halved.metrics.get(name)
    # The same metric on validation data, when that is other data than what judges.
    if (
        measure.name.startswith("test_")
        and known is not None
        and known != halved.metrics.get(measure.name)
    ):
        twin = replace(
            measure,
            name=name,
            source=halved.sources.get(name),
        )
        sentence = f"searched by {twin.name}, judged by {measure.name}"
        return Judging(twin, measure, Part.WHOLE, Part.WHOLE, sentence)
    sentence = "the evaluation data could not be taken apart: only the seeds that judge are fresh"
    return Judging(measure, measure, Part.WHOLE, Part.WHOLE, sentence)


class Decision(StrEnum):
    """What the fresh seeds say."""

    REPAIRED = "repaired"
    """Significantly better, and the training does well now."""
    IMPROVED = "improved"
    """Significantly better, and by enough to matter; nothing says that it does well now."""
    FIXED = "fixed"
    """A proven fault is gone, and the metric is not significantly worse: it says no difference that
    matters.
    """
    FAULT_REMAINS = "better-fault-remains"
    """Significantly better, but a proven fault is still there: no repair of it."""
    RUNS_NOW = "runs-now"
    """Significantly different, but no improvement: a program that failed trains now, to a result no
    better than a constant answer, or a loss falls below what its formula can reach.
    """
    TOO_SMALL = "too-small"
    """Significantly better, but too little to matter."""
    NOT_SIGNIFICANT = "not-significant"
    NOTHING_FOUND = "nothing-found"
    """No change helped in the search."""
    GOOD_ALREADY = "good-already"
    """The training performs well and no finding speaks against it."""
    NOT_DECIDED = "not-decided"
    """The time was up before a change was verified."""

    @property
    def exit_code(self) -> ExitCode:
        if self.helps or self is Decision.GOOD_ALREADY:
            return ExitCode.OK
        found = self in (Decision.TOO_SMALL, Decision.NOTHING_FOUND, Decision.FAULT_REMAINS)
        return ExitCode.FOUND if found else ExitCode.INCONCLUSIVE

    @property
    def helps(self) -> bool:
        """Whether the change is one to take."""
        return self in (Decision.REPAIRED, Decision.IMPROVED, Decision.FIXED)


class VerdictJson(TypedDict):
    """The verdict on one change as JSON."""

    decision: Decision
    patch: Patch
    seeds: tuple[int, ...]
    before: tuple[float, ...]
    after: tuple[float, ...]
    p_value: float
    rank_biserial: float
    cohen_d: float
    shortfall: str | None
    detectable_gain: float | None


@dataclass(frozen=True, slots=True)
class Verdict:
    """One change, trained over seeds that chose nothing, against the unchanged program."""

    patch: Patch
    seeds: tuple[int, ...]
    before: tuple[float, ...]
    """The metric as it is logged, a seed each; NaN for a failed training."""
    after: tuple[float, ...]
    comparison: PairedSamples
    """The same, oriented so that larger is better."""
    p_value: float
    """Corrected where a second change was verified, or might have been."""
    decision: Decision
    shortfall: str = ""
    """Why a significant difference is not an improvement; empty where it is one, or not significant."""
    detectable: float | None = None
    """The smallest gain that would have been found four times out of five; none where no one
    can say.
    """

    def json_fields(self) -> VerdictJson:
        return {
            "decision": self.decision,
            "patch": self.patch,
            "seeds": self.seeds,
            "before": self.before,
            "after": self.after,
            "p_value": self.p_value,
            "rank_biserial": self.comparison.rank_biserial,
            "cohen_d": self.comparison.cohen_d,
            "shortfall": self.shortfall or None,
            "detectable_gain": self.detectable,
        }

    @property
    def not_seen(self) -> str:
        """How large a gain would have been found, where none was; empty where that does not
        matter.
        """
        if self.decision is not Decision.NOT_SIGNIFICANT:
            return ""
        return detectable_words(self.detectable)


class BeforeAfter(NamedTuple):
    """A metric of one seed over the steps, on the unchanged program and changed."""

    before: Curve
    after: Curve


class RepairJson(TypedDict):
    """A repair as JSON."""

    strategy: str
    decision: Decision
    sentence: str
    patch: Patch
    complexity: int
    diff: str
    judging: Judging
    verdicts: tuple[Verdict, ...]
    fixed_faults: tuple[ProvenFault, ...]
    remaining_faults: tuple[ProvenFault, ...]
    withdrawn: tuple[ProvenFault, ...]
    failed_as_is: str | None
    looks: tuple[Evaluation, ...]
    cuts: tuple[ReductionStep, ...]
    curves: Mapping[str, BeforeAfter]
    trainings: int
    spent: float
    one_training_s: float
    verifying_trainings: int
    seconds: float
    why: Sequence[str]
    stand_in_data: tuple[str, ...]
    notes: tuple[str, ...]


@dataclass(frozen=True, repr=False)
class Repair(Result):
    """The smallest change that helps, and what shows it; or why there is none."""

    strategy: str
    decision: Decision
    patch: Patch
    diff: str
    """Against the user's own source; empty when nothing is to be changed."""
    judging: Judging
    verdicts: tuple[Verdict, ...]
    """What was verified; `verdict` is the one that decides."""
    looks: tuple[Evaluation, ...]
    cuts: tuple[ReductionStep, ...]
    cost: TrainingUsage
    why: Sequence[str] = ()
    """The findings of the diagnosis, a line each."""
    curves: Mapping[str, BeforeAfter] = field(default_factory=dict)
    """By metric."""
    fixed_faults: tuple[ProvenFault, ...] = ()
    """Proven faults that the change takes away."""
    remaining_faults: tuple[ProvenFault, ...] = ()
    """Proven faults that are still there."""
    withdrawn: tuple[ProvenFault, ...] = ()
    """Findings that fresh seeds speak against: without the fault the metric is significantly worse."""
    by_its_check: bool = False
    """Whether the number itself was at fault, so that the detector judges, which is silent now."""
    failed_as_is: str = ""
    """Why the program has no value of the metric unchanged; empty where it has one."""
    stand_in_data: tuple[str, ...] = ()
    """Data sets that the program got made-up data for."""
    notes: tuple[str, ...] = ()
    reused: str = ""
    """What was not made by this execution, in a line; empty for nothing."""
    applied: str = ""
    """Where the change was written, in a sentence; empty when that was not asked for."""
    stopped_by_user: bool = False
    """Whether the user ended it and asked for a verdict on what there was."""

    def json_fields(self) -> RepairJson:
        return {
            "strategy": self.strategy,
            "decision": self.decision,
            "sentence": self.sentence,
            "patch": self.patch,
            "complexity": self.patch.complexity,
            "diff": self.diff,
            "judging": self.judging,
            "verdicts": self.verdicts,
            "fixed_faults": self.fixed_faults,
            "remaining_faults": self.remaining_faults,
            "withdrawn": self.withdrawn,
            "failed_as_is": self.failed_as_is or None,
            "looks": self.looks,
            "cuts": self.cuts,
            "curves": self.curves,
            "trainings": self.cost.trainings,
            "spent": rounded(self.cost.spent, 3),
            "one_training_s": rounded(self.cost.one_training, 3),
            "verifying_trainings": self.cost.verifying,
            "seconds": rounded(self.cost.seconds, 2),
            "why": self.why,
            "stand_in_data": self.stand_in_data,
            "notes": self.notes,
        }

    @property
    def exit_code(self) -> ExitCode:
        return self.decision.exit_code

    @property
    def verdict(self) -> Verdict | None:
        return deciding(self.verdicts)

    @property
    def sentence(self) -> str:
        """The one line to read: what came of it and, where that is not a change, what to do next."""
        late = (
            "Not decided: the time was up before a change was verified. Give a larger"
            " --max-time, or train for fewer epochs; the same command continues."
        )
        if self.stopped_by_user:
            late = (
                "Not decided: stopped by you before a change was verified. The same command "
                "starts afresh and reuses the trainings that came to their end."
            )
        whole = {
            Decision.GOOD_ALREADY: (
                "This training performs well already; nothing is to be repaired."
            ),
            Decision.NOT_DECIDED: late,
        }.get(self.decision)
        as_is = f" Failed as it is: {self.failed_as_is}." if self.failed_as_is else ""
        said = whole or f"{self._outcome}{as_is}{self._withdrawal} {self._next_step}".rstrip()
        return on_stand_in(self.stand_in_data, said)

    @property
    def in_numbers(self) -> str:
        """The metric before and after; empty where nothing was verified."""
        if self.verdict is None:
            return ""
        return (
            f"{self.judging.judge.name} {summary(self.verdict.before)} -> "
            f"{summary(self.verdict.after)}"
        )

    @property
    def _outcome(self) -> str:
        if self.verdict is None:
            nothing = "No change helped within the budget; nothing is to be recommended."
            return f"{nothing}{self._tried}{self._unfixed}"
        judged = self.verdict
        numbers = self.in_numbers
        proof = f"{len(judged.seeds)} fresh seeds, p={judged.p_value:.2g}"
        count = self.patch.complexity
        changes = "1 change" if count == 1 else f"{count} changes"
        seeds = f"{len(judged.seeds)} fresh seeds"
        gone = _sentence_part(self.fixed_faults, "gone")
        left = _sentence_part(self.remaining_faults, "still there")
        if self.by_its_check and self.decision is Decision.REPAIRED:
            honest = "the number before was not what it seemed"
            return f"Repaired by {changes}: {gone}. {numbers} ({seeds}): {honest}."
        if self.decision is Decision.FIXED:
            why = judged.shortfall or "no difference that matters"
            return f"Fixed by {changes}: {gone}; {numbers} ({seeds}, {why})."
        if self.decision is Decision.FAULT_REMAINS:
            return f"Better by {changes}, not repaired: {numbers} ({proof}), and {left}."
        if self.decision.helps:
            done = f"{self.decision.capitalize()} by {changes}: {numbers} ({proof})."
            return f"{done} {gone}." if gone else done
        if self.decision is Decision.TOO_SMALL:
            also = f"; {judged.shortfall}" if judged.shortfall else ""
            return f"The best change found helps too little to matter: {numbers} ({proof}{also})."
        if self.decision is Decision.RUNS_NOW:
            failed = all(math.isnan(value) for value in judged.before)
            begins = (
                "Runs now, but no improvement is shown" if failed else "No improvement is shown"
            )
            return f"{begins}: {numbers} ({proof}); {judged.shortfall}."
        seen = f"; {judged.not_seen}" if judged.not_seen else ""
        return f"No change holds on fresh seeds; the best found: {numbers} ({proof}{seen})."

    @property
    def _next_step(self) -> str:
        """What a user could do where no change is to be taken; empty where one is."""
        if self.decision.helps:
            return ""
        if self.decision is Decision.TOO_SMALL:
            return (
                "Name the metric that matters with --metric, or look for a larger gain with "
                "--budget 40x."
            )
        if self.decision is Decision.FAULT_REMAINS:
            codes = self.remaining_faults[0].code
            return f"reenact explain {codes} shows what to write instead."
        if self.decision is Decision.RUNS_NOW and not self.judging.judge.larger_is_better:
            return "Judge by a metric that is bounded, such as accuracy, with --metric."
        wider = "Search wider with --budget 40x, or name the metric that matters with --metric"
        cause = "reenact diagnose --depth normal says what is known of the cause"
        return _too_few(self.verdict) or f"{wider}; {cause}."

    @property
    def _withdrawal(self) -> str:
        """What was found and is not held any more; empty for nothing."""
        if not self.withdrawn:
            return ""
        name = self.judging.judge.name
        without = f"after the fix {name} is significantly worse over fresh seeds"
        return f" Withdrawn: {_listed(self.withdrawn)}: {without}."

    @property
    def _unfixed(self) -> str:
        """That a fault is proven, where no fix of it could be tried; empty where there is none."""
        if not self.remaining_faults:
            return ""
        left = _listed(self.remaining_faults)
        return (
            f" Proven, and not repaired: {left}; reenact explain {self.remaining_faults[0].code}."
        )

    @property
    def _tried(self) -> str:
        """What was tried, with the best of it."""
        name = self.judging.search.name
        sign = 1 if self.judging.search.larger_is_better else -1
        scores = {str(look.patch): look.score for look in self.looks if look.share == 1}
        base = scores.pop(
            str(Patch()),
            -math.inf,
        )
        if not scores:
            return " No change could be tried."
        best = max(scores, key=scores.__getitem__)
        reached = summary((sign * scores[best],))
        stands = summary((sign * base,))
        return (
            f" Changes tried: {len(scores)}; the best, {best}: {name} {reached}, unchanged "
            f"{stands}."
        )


def deciding(verdicts: Sequence[Verdict]) -> Verdict | None:
    """The last one that holds; where none does, the first that lets the program run, else the last."""
    if not verdicts:
        return None
    for one in reversed(verdicts):
        if one.decision.helps:
            return one
    last = verdicts[-1]
    for one in verdicts:
        if one.decision is Decision.RUNS_NOW:
            return one
    return last


def _sentence_part(faults: Sequence[ProvenFault], what: str) -> str:
    """That these are so; empty for none."""
    if not faults:
        return ""
    return f"{_listed(faults)} {'is' if len(faults) == 1 else 'are'} {what}"


def _listed(faults: Sequence[ProvenFault]) -> str:
    """As in a sentence."""
    first = faults[0].words
    if len(faults) == 1:
        return first
    return f"{', '.join(one.words for one in faults[:-1])} and {faults[-1].words}"


def _too_few(judged: Verdict | None) -> str:
    """Where the seeds that differ could not have been enough, however they had come out."""
    if judged is None:
        return ""
    compared = judged.comparison
    differ = sum(map(ne, compared.before, compared.after))
    # Every seed better is the least p there is; that a second change might be verified makes it
    # larger.
    if max(1.0, judged.p_value / compared.p_value) * 0.5**differ < SIGNIFICANT:
        return ""
    few = (
        f"Only {differ} of {len(judged.seeds)} seeds differ at all, which cannot reach p < "
        f"{SIGNIFICANT}"
    )
    return f"{few}; give --seeds {2 * len(judged.seeds)}."


def summary(values: Sequence[float]) -> str:
    """Mean and spread; trainings that failed are counted apart."""
    known = [value for value in values if math.isfinite(value)]
    if not known:
        return "failed"
    text = f"{fmean(known):.4g}" + (f" ± {stdev(known):.2g}" if len(known) > 1 else "")
    failed = len(values) - len(known)
    if failed:
        return f"{text} ({failed} of {len(values)} failed)"
    return text
