"""Proven faults come first: their fixes, made together, are watched and trained over fresh seeds.

A fix is right where the detector that proved the fault is silent on the changed program. It is kept unless
the fresh seeds show the metric significantly worse; then the finding is withdrawn. Where the number itself
is at fault (a leak, a metric, the evaluation) the number cannot judge, and the detector does.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from statistics import median

from reenact.program.patch import Patch
from reenact.program.program import Program
from reenact.repairs.again import SeenAgain, remaining
from reenact.repairs.causes import MOST_FIXES, Cause, fits, whole_of
from reenact.repairs.search_context import SearchContext
from reenact.trials.ending import as_trained
from reenact.trials.hopeless import touches_loss
from reenact.trials.statistics import ALPHA, compare
from reenact.trials.trainer import BudgetedTrainer
from reenact.trials.verify import FIRST_LOOK, Verification, verify
from reenact.types import Progress, Tell

SAME_LOSS = 0.05
"""Share by which the first loss may change before losses of both programs cannot be compared."""
NOT_SILENT = "the detector still speaks after the fix"
NOT_TRAINED = "the program does not train after the fix"


@dataclass(frozen=True, slots=True)
class Kept:
    """What became of the fixes of proven faults."""

    fixes: tuple[tuple[Cause, Patch], ...] = ()
    """Each fault that is taken away, and by what."""
    withdrawn: tuple[Cause, ...] = ()
    verification: Verification | None = None
    seen: SeenAgain | None = None
    comparable: bool = True
    """Whether the metric can tell anything of the change."""
    notes: tuple[str, ...] = ()

    @property
    def patch(self) -> Patch:
        """All fixes together."""
        return whole_of(fix for _, fix in self.fixes)

    @property
    def causes(self) -> tuple[Cause, ...]:
        return tuple(cause for cause, _ in self.fixes)

    @property
    def by_its_check(self) -> bool:
        """Whether the number was at fault."""
        return any(one.is_of_correctness for one in self.causes)


@dataclass(frozen=True)
class ProvenFaults:
    """The proven faults of a program, and what tries their fixes."""

    causes: tuple[Cause, ...]
    program: Program
    judge: BudgetedTrainer
    seeds: tuple[int, ...]
    """Fresh ones; the first six judge."""
    watch: Callable[[Patch], SeenAgain]
    first_loss: float | None
    """Of the unchanged program."""
    tell: Tell

    def fixed(self) -> Kept:
        """The fixes that are kept."""
        chosen, seen, notes = self._silencing()
        kept = Kept(notes=tuple(notes))
        if not chosen or seen is None:
            return kept
        kept = self._verified(chosen, seen, kept)
        while self._withdraws(kept):
            worse = self._worse_ones(kept)
            chosen = [pair for pair in chosen if pair[0] not in worse]
            kept = Kept(withdrawn=(*kept.withdrawn, *worse), notes=kept.notes)
            if chosen:
                seen = self.watch(whole_of(fix for _, fix in chosen))
                kept = self._verified(chosen, seen, kept)
        return self._without_unshown(kept)

    def _without_unshown(self, kept: Kept) -> Kept:
        """The same without fixes of faults that are only likely, where the metric is not better: these
        are for the search.
        """
        sure = [(one, fix) for one, fix in kept.fixes if one.is_proven or one.is_of_correctness]
        if kept.verification is None or kept.verification.holds or len(sure) == len(kept.fixes):
            return kept
        bare = Kept(withdrawn=kept.withdrawn, notes=kept.notes)
        if not sure:
            return bare
        return self._verified(sure, self.watch(whole_of(fix for _, fix in sure)), bare)

    def _silencing(self) -> tuple[list[tuple[Cause, Patch]], SeenAgain | None, list[str]]:
        """For each fault the first fix that silences its detector, all fixes made together."""
        options = {at: list(one.mechanical) for at, one in enumerate(self.causes) if one.mechanical}
        notes: list[str] = []
        for _ in range(MOST_FIXES + len(options)):
            chosen = self._together(options)
            if not chosen:
                return [], None, notes
            whole = whole_of(fix for _, fix in chosen)
            self._tell(f"watch the program after {whole}")
            seen = self.watch(whole)
            trains = as_trained(seen.outcome, self.judge.ending).trained
            wrong = (
                remaining([one for one, _ in chosen], whole, seen, self.program)
                if trains
                else tuple(one for one, _ in chosen)
            )
            if not wrong:
                return chosen, seen, notes
            for cause in wrong:
                at = self.causes.index(cause)
                dropped = options[at].pop(0)
                why = NOT_SILENT if trains else NOT_TRAINED
                notes.append(f"Not taken: {dropped}: {why} ({cause.fault.words}).")
        return [], None, notes

    def _together(self, options: dict[int, list[Patch]]) -> list[tuple[Cause, Patch]]:
        """The first fix of each, as far as they fit together."""
        chosen: list[tuple[Cause, Patch]] = []
        for at, fixes in options.items():
            so_far = whole_of(fix for _, fix in chosen)
            fitting = [one for one in fixes if fits(so_far + one, self.program)]
            options[at] = fitting
            if fitting:
                chosen.append((self.causes[at], fitting[0]))
        return chosen

    def _verified(self, chosen: Sequence[tuple[Cause, Patch]], seen: SeenAgain, kept: Kept) -> Kept:
        whole = whole_of(fix for _, fix in chosen)
        found = replace(
            kept,
            fixes=tuple(chosen),
            seen=seen,
            comparable=self._is_comparable(whole, seen),
        )
        return replace(found, verification=self._over_seeds(whole)[0])

    def _over_seeds(self, patch: Patch) -> tuple[Verification, ...]:
        """Over six fresh seeds; raises TimeSpent where the time is up."""
        note = f"trainings that verify {patch}"
        judge = replace(
            self.judge,
            on_trained=lambda ended: self.tell(Progress("repair", ended, 2 * FIRST_LOOK, note)),
        )
        found, late = verify([patch], judge, self.seeds[:FIRST_LOOK], begin=self._begin)
        if late is not None:
            raise late
        return found

    def _is_comparable(self, patch: Patch, seen: SeenAgain) -> bool:
        """A loss says nothing of a change of the loss."""
        if not self.judge.measure.is_loss:
            return True
        if touches_loss(patch):
            return False
        if self.first_loss is None or seen.first_loss is None:
            return True
        return math.isclose(self.first_loss, seen.first_loss, rel_tol=SAME_LOSS)

    def _withdraws(self, kept: Kept) -> bool:
        """Whether fresh seeds speak against a fault that the number can judge."""
        judged = kept.verification
        open_to_judgement = any(not one.is_of_correctness for one in kept.causes)
        return (
            judged is not None
            and kept.comparable
            and open_to_judgement
            and is_worse(judged, self.judge)
        )

    def _worse_ones(self, kept: Kept) -> tuple[Cause, ...]:
        """Those whose fix makes the metric worse by itself; all where none does."""
        able = [(cause, fix) for cause, fix in kept.fixes if not cause.is_of_correctness]
        worse = [
            cause
            for cause, fix in able
            if len(able) == 1 or is_worse(self._over_seeds(fix)[0], self.judge)
        ]
        return tuple(worse) or tuple(cause for cause, _ in able)

    def _begin(self, patch: Patch) -> None:
        self._tell(f"verify over {FIRST_LOOK} fresh seeds: {patch}")

    def _tell(self, note: str) -> None:
        self.tell(Progress("repair", note=note))


def is_worse(one: Verification, judge: BudgetedTrainer) -> bool:
    """Whether the metric is significantly worse after the change, by enough to matter."""
    before, after = one.comparison.before, one.comparison.after
    if compare(after, before).p_value >= ALPHA:
        return False
    return judge.improves(median(after), median(before))


def is_settled_by(
    kept: Kept, causes: Sequence[Cause], context: SearchContext, judge: BudgetedTrainer
) -> bool:
    """Whether nothing is left to search once proven faults are fixed.

    There is where another proven fault has a value to choose, where the training still fails, or where
    a likely fault of the fixed program has a fix and the training does not do well.
    """
    if kept.verification is None or kept.seen is None:
        return False
    done = (*kept.causes, *kept.withdrawn)
    if any(one.fixes and one.is_proven for one in causes if one not in done):
        return False
    if kept.verification.holds and judge.is_good_enough(median(kept.verification.comparison.after)):
        return True
    likely = any(
        kept.seen.speaks(one.code)
        for one in context.suspects
        if one.edits and one.key not in [cause.finding.key for cause in done]
    )
    return not (likely or kept.seen.fails)


def on_top_of(kept: Kept, context: SearchContext) -> None:
    """From now on the search changes the program with its proven faults fixed."""
    done = [one.finding.key for one in (*kept.causes, *kept.withdrawn)]
    context.kept = kept.patch
    context.suspects = [one for one in context.suspects if one.key not in done]
