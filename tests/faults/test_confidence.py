"""Where confidence changes: each step on both sides of its bound."""

from __future__ import annotations

from dataclasses import replace

import pytest

from reenact.faults import confidence as sure
from reenact.faults.confidence import Health, Word
from reenact.faults.fault_type import FaultType
from reenact.faults.observation import Certainty, Observation, Observes, Severity

HINT, STRONG, PROOF = Certainty.HINT, Certainty.STRONG, Certainty.PROOF


def seen(
    confidence: float,
    observes: Observes = Observes.TEXT,
    family: str = "reenact",
    fault: FaultType | None = None,
    certainty: Certainty = HINT,
    is_calibrated: bool = False,
) -> Observation:
    return Observation(
        "RE001",
        "name",
        family,
        fault,
        Severity.ERROR,
        "saw",
        "why",
        confidence,
        observes=observes,
        certainty=certainty,
        is_calibrated=is_calibrated,
    )


def before_trials(
    suspicion: float,
    certainty: Certainty,
    *,
    is_calibrated: bool = False,
    is_doubted: bool = False,
) -> float:
    return sure.before_trials(
        suspicion, certainty, is_calibrated=is_calibrated, is_doubted=is_doubted
    )


def test_one_kind_of_observation_counts_once_with_its_strongest_witness() -> None:
    assert (
        sure.combined([seen(0.4), seen(0.7, family="umlaut"), seen(0.6, family="neuralint")]) == 0.7
    )


def test_each_further_kind_removes_a_quarter_of_the_doubt_by_its_own_confidence() -> None:
    found = [seen(0.6), seen(0.8, Observes.LOSSES), seen(0.4, Observes.WEIGHTS)]
    assert sure.combined(found) == pytest.approx(1 - 0.2 * (1 - 0.25 * 0.6) * (1 - 0.25 * 0.4))


def test_proof_is_not_explained_away() -> None:
    assert sure.explained(0.95, PROOF) == 0.95
    assert sure.explained(0.5, STRONG) == pytest.approx(0.3)
    assert sure.explained(0.5, HINT) == pytest.approx(0.3)


@pytest.mark.parametrize("health", Health)
@pytest.mark.parametrize("certainty", Certainty)
@pytest.mark.parametrize("shows", [True, False])
def test_what_a_training_speaks_against(health: Health, certainty: Certainty, shows: bool) -> None:
    fault = FaultType.LCH if shows else FaultType.VRM
    found = [seen(0.95, fault=fault, certainty=certainty)]
    spoken = sure.is_spoken_against(0.95, found, health)
    expected = {
        HINT: health in (Health.WORKS, Health.UNCLEAR),
        STRONG: health is Health.WORKS and shows,
        PROOF: False,
    }
    assert spoken is expected[certainty]


@pytest.mark.parametrize(("confidence", "spoken"), [(0.92, False), (0.7, True)])
def test_hints_of_two_kinds_count_where_they_are_more_likely_right_than_not(
    confidence: float, spoken: bool
) -> None:
    """The calibrated share decides: 0.89 at 0.92, 0.49 at 0.7."""
    both = [seen(confidence), seen(0.3, Observes.LOSSES)]
    assert sure.is_spoken_against(confidence, both, Health.UNCLEAR) is spoken


def test_the_learned_detector_calibrates_itself() -> None:
    learned = seen(0.95, fault=FaultType.LCH, is_calibrated=True)
    assert not sure.is_spoken_against(0.95, [learned], Health.WORKS)
    assert sure.is_spoken_against(0.95, [learned, seen(0.9)], Health.WORKS)
    assert sure.are_calibrated([learned])
    assert not sure.are_calibrated([learned, seen(0.9)])
    assert before_trials(0.7, HINT, is_calibrated=True) == 0.7
    assert before_trials(0.7, HINT) == sure.shipped().at(0.7)


def test_a_training_that_learns_says_nothing_of_rows_that_it_is_not_given() -> None:
    strong = seen(0.95, fault=FaultType.CPP, certainty=STRONG)
    held_out = replace(strong, of_held_out_rows=True)
    assert sure.is_spoken_against(0.95, [strong], Health.WORKS)
    assert not sure.is_spoken_against(0.95, [held_out], Health.WORKS)
    assert sure.is_spoken_against(0.95, [strong, held_out], Health.WORKS), "the surest decides"


def test_what_is_doubted_stays_low_and_proof_stays_high() -> None:
    assert before_trials(0.98, STRONG, is_doubted=True) == sure.DOUBTED
    assert before_trials(0.1, STRONG, is_doubted=True) == sure.shipped().at(0.1)
    assert before_trials(0.5, PROOF, is_doubted=True) == sure.PROOF
    assert before_trials(0.97, PROOF) == 0.97


def test_trials_raise_and_lower() -> None:
    assert sure.confirmed(0.3) == 0.9
    assert sure.confirmed(0.97) == 0.97
    assert sure.refuted(0.5) == pytest.approx(0.2)
    assert sure.below(0.8, 0.45) == pytest.approx(0.44)
    assert sure.below(0.2, 0.45) == 0.2


@pytest.mark.parametrize(
    ("confidence", "word"),
    [
        (1.0, Word.PROVEN),
        (0.9, Word.PROVEN),
        (0.899, Word.LIKELY),
        (0.45, Word.LIKELY),
        (0.449, Word.POSSIBLE),
        (0.0, Word.POSSIBLE),
    ],
)
def test_readers_get_a_word(confidence: float, word: Word) -> None:
    assert sure.word_of(confidence) is word


@pytest.mark.parametrize("word", Word)
def test_the_least_of_a_word_is_called_so(word: Word) -> None:
    assert sure.word_of(word.least) is word
    assert sure.word_of(word.least - 0.001) is not word or word is Word.POSSIBLE


@pytest.mark.parametrize("is_calibrated", [False, True])
def test_only_proof_and_trials_are_called_proven(is_calibrated: bool) -> None:
    """However sure: a share of right findings on other programs establishes nothing of this one."""
    strong = before_trials(1.0, STRONG, is_calibrated=is_calibrated)
    proof = before_trials(0.1, PROOF, is_calibrated=is_calibrated)
    assert sure.word_of(strong) is Word.LIKELY
    assert sure.word_of(proof) is Word.PROVEN
    assert sure.word_of(sure.confirmed(0.1)) is Word.PROVEN
