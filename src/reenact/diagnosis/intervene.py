"""Intervention: change the suspects, train, keep what helps, then judge it on seeds that chose nothing.

Suspects are changed one by one, then what is still promising on top of the best, then all strong ones
jointly. A joint change is cut down to what is needed. What remains is trained over fresh seeds against the
program as it stands; only a significant improvement confirms it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from statistics import median

from reenact.diagnosis.candidates import (
    STRONG,
    Candidate,
    Grown,
    Screened,
    Screening,
    candidates_of,
    grow,
    ranked,
    whole,
)
from reenact.diagnosis.diagnosis import DiagnosisFinding, InterventionResult, VerifiedChange
from reenact.diagnosis.suspects import Suspect, SuspectKey, calibrated
from reenact.errors import TimeSpent
from reenact.program.patch import Patch
from reenact.rules.finding import Severity
from reenact.trials.trainer import BudgetedTrainer
from reenact.trials.verify import Verification, verify
from reenact.types import Progress

FRESH_SEEDS = tuple(range(101, 141))
"""Seeds that judge; none of them chooses."""
LOOKED_AT_AGAIN = 2
MUCH = 0.25
"""Share of what is left to gain that changing a slight suspect must bring."""
SURE = 0.9
"""A suspect as likely as this stays a finding when another change was confirmed and this one helped too."""


def intervene(
    suspects: Sequence[Suspect], screening: Screening, *, threshold: float
) -> tuple[list[DiagnosisFinding], list[str]]:
    """Every suspect with what trying it has shown, and remarks on what could not be tried."""
    trainer, tell = screening.trainer, screening.tell
    candidates = candidates_of(suspects, screening)
    if not candidates:
        return [DiagnosisFinding(one, InterventionResult.UNTRIED, calibrated(one)) for one in suspects], []
    tell(Progress("diagnose", 3, 5, f"change {len(candidates)} suspects, one by one"))
    patches = [Patch(()), *(candidate.patch for candidate in candidates)]
    base, *scores = screening.scores(patches)
    screened = [Screened(one, score) for one, score in zip(candidates, scores, strict=True)]
    helpful = [one for one in screened if trainer.improves(base, one.score)]
    helpful, grown = ranked(helpful, base, trainer), Grown(())
    tried: list[tuple[tuple[Candidate, ...], VerifiedChange]] = []
    remarks: list[str] = []
    try:
        base, helpful = _second_look(base, helpful, screening)
        grown = grow(base, screened, helpful, screening)
        tried = _verify(grown.chosen, helpful, screening)
    except TimeSpent as error:
        remarks = [f"What helped in a first look was not verified. {error.sentence}"]
    judged = _judge(suspects, screened, helpful, grown.adds, tried, threshold)
    well = trainer.is_good_enough(base)
    return [_weighed(one, threshold, trainer, well=well) for one in judged], remarks


def _second_look(base: float, helpful: list[Screened], screening: Screening) -> tuple[float, list[Screened]]:
    """Luck has chosen among several? Look again at the first few, on more seeds."""
    trainer = screening.trainer
    front = helpful[: LOOKED_AT_AGAIN * screening.plan.screening_seeds]
    cost = sum(screening.cost(one.candidate.patch) for one in front) + 1
    if len(front) < 2 or not screening.leaves_enough(cost):
        return base, helpful
    base, *scores = screening.scores([Patch(()), *(one.candidate.patch for one in front)], looks=2)
    again = [Screened(one.candidate, score) for one, score in zip(front, scores, strict=True)]
    held = [one for one in again if trainer.improves(base, one.score)]
    return base, ranked(held, base, trainer)


def _verify(
    chosen: tuple[Candidate, ...], helpful: list[Screened], screening: Screening
) -> list[tuple[tuple[Candidate, ...], VerifiedChange]]:
    """Judge the chosen change on fresh seeds; the next best single one when it does not hold."""
    options = [chosen] if chosen else []
    options += [(one.candidate,) for one in helpful if (one.candidate,) != chosen]
    trainer, seeds = screening.trainer, FRESH_SEEDS[: screening.plan.seeds]

    def begin(patch: Patch) -> None:
        screening.tell(Progress("diagnose", 5, 5, f"verify over {len(seeds)} fresh seeds: {patch}"))

    found, late = verify([whole(option) for option in options], trainer, seeds, begin=begin, counted=True)
    if late is not None and not found:
        raise late
    return [(option, _tried(one, trainer)) for option, one in zip(options, found, strict=False)]


def _tried(one: Verification, trainer: BudgetedTrainer) -> VerifiedChange:
    return VerifiedChange(
        one.patch, trainer.measure, one.comparison.before, one.comparison.after, one.comparison, one.p_value,
        one.holds, one.cpu_seconds,
    )  # fmt: skip


def _judge(
    suspects: Sequence[Suspect],
    screened: list[Screened],
    helpful: list[Screened],
    adds: Sequence[Candidate],
    tried: list[tuple[tuple[Candidate, ...], VerifiedChange]],
    threshold: float,
) -> list[DiagnosisFinding]:
    confirmed = {one.suspect.key: held for option, held in tried if held.confirmed for one in option}
    failed = {one.suspect.key: held for option, held in tried if not held.confirmed for one in option}
    looked = {one.candidate.suspect.key for one in screened}
    gained = {one.candidate.suspect.key for one in helpful}
    added = {one.suspect.key for one in adds} if confirmed else set()
    hidden = _hides(suspects, looked, confirmed)
    found = []
    for suspect in suspects:
        key, sure = suspect.key, calibrated(suspect)
        if key in confirmed:
            found.append(
                DiagnosisFinding(suspect, InterventionResult.CONFIRMED, max(0.9, sure), confirmed[key])
            )
        elif key in added:
            note = "changing it as well helped more, in a first look"
            found.append(DiagnosisFinding(suspect, InterventionResult.HELPED, sure, note=note))
        elif key in gained and key not in failed:
            note = (
                "changing this instead helped too, in a first look" if confirmed else "helped in a first look"
            )
            demoted = confirmed and suspect.confidence < SURE
            sure = min(sure, threshold - 0.01) if demoted else sure
            found.append(DiagnosisFinding(suspect, InterventionResult.HELPED, sure, note=note))
        elif key in looked and hidden:
            note = "changing it alone did not help, but what could not be changed may hide its effect"
            found.append(DiagnosisFinding(suspect, InterventionResult.UNTRIED, sure, note=note))
        elif key in looked:
            note = "changing it did not help"
            found.append(
                DiagnosisFinding(suspect, InterventionResult.REFUTED, 0.4 * sure, failed.get(key), note)
            )
        else:
            found.append(DiagnosisFinding(suspect, InterventionResult.UNTRIED, sure))
    return found


def _weighed(
    one: DiagnosisFinding, threshold: float, trainer: BudgetedTrainer, *, well: bool
) -> DiagnosisFinding:
    """Nearly every training can be made a little better. What was only slightly suspected is at fault when
    changing it helps much, and the training does not do well as it is; else it is tuning."""
    held = one.tried
    if one.status is not InterventionResult.CONFIRMED or one.suspect.confidence >= STRONG or held is None:
        return one
    much = trainer.improves(median(held.before), median(held.after), share=MUCH)
    if much and not well:
        return one
    why = "the training does well as it is" if well else "not much, and little else speaks against it"
    note = f"changing it helps, but {why}"
    return replace(one, confidence=min(one.confidence, threshold - 0.01), note=note)


def _hides(
    suspects: Sequence[Suspect], looked: set[SuspectKey], confirmed: Mapping[SuspectKey, VerifiedChange]
) -> bool:
    """Whether something as good as proven could not be changed: nothing else can help beside labels that are
    wrong, and that it did not help then says little against it."""
    return not confirmed and any(
        one.confidence >= SURE and one.first.severity is Severity.ERROR and one.key not in looked
        for one in suspects
    )
