"""Findings of several detectors become one: one a fault and owner, several witnesses."""

from __future__ import annotations

from dataclasses import replace
from pathlib import PurePosixPath

import pytest

from reenact.diagnosis.grouping import grouped
from reenact.diagnosis.options import THRESHOLD
from reenact.faults.confidence import Health
from reenact.faults.fault_type import FaultType
from reenact.faults.finding import Finding, finding_of
from reenact.faults.observation import Certainty, Observation, Observes, Severity, Suggestion
from reenact.program.edit.change import Set
from reenact.program.hyperparameter import HyperparameterId, Kind
from reenact.program.patch import Patch
from reenact.types import Place

RATE = HyperparameterId("train.py", "", "", Kind.LEARNING_RATE)


def finding(code: str, fault: FaultType | None, confidence: float, **more: object) -> Finding:
    family = {"UM": "umlaut", "RE": "reenact", "NL": "neuralint"}[code[:2]]
    seen = Observation(
        code,
        code.lower(),
        family,
        fault,
        Severity.WARNING,
        "saw",
        "why",
        confidence,
        **more,
    )  # type: ignore[arg-type]
    return finding_of(seen)


def suggestion(value: float) -> Suggestion:
    return Suggestion(Patch((Set(RATE, value),)), RATE, 10.0, value)


def test_witnesses_of_one_fault_are_one_finding() -> None:
    (one,) = grouped(
        [
            finding(
                "UM005",
                FaultType.HLR,
                0.4,
                hyperparameter=RATE,
                suggestions=(suggestion(0.001),),
            ),
            finding(
                "RE019",
                FaultType.HLR,
                0.8,
                hyperparameter=RATE,
                suggestions=(suggestion(0.01), suggestion(0.001)),
                observes=Observes.LOSSES,
            ),
        ]
    )
    assert [witness.code for witness in one.witnesses] == ["RE019", "UM005"]
    assert [change.new for change in one.suggestions] == [0.01, 0.001]
    assert 0.8 < one.suspicion < 0.9


def test_the_value_that_was_measured_is_suggested_before_one_that_is_inferred() -> None:
    inferred = finding(
        "UM005",
        FaultType.HLR,
        0.9,
        hyperparameter=RATE,
        suggestions=(suggestion(0.001),),
    )
    measured = finding(
        "RE019", FaultType.HLR, 0.8, hyperparameter=RATE, suggestions=(suggestion(0.1),)
    )
    (one,) = grouped([inferred, measured.refined(certainty=Certainty.STRONG)])
    assert [change.new for change in one.suggestions] == [0.1, 0.001]
    assert one.first.code == "UM005"


@pytest.mark.parametrize("other", ["UM006", "RE019"])
def test_two_detectors_that_observe_the_same_are_one_witness(other: str) -> None:
    """Whichever tools they come from: the same text read twice is one observation."""
    (one,) = grouped([finding("UM005", FaultType.HLR, 0.6), finding(other, FaultType.HLR, 0.5)])
    assert one.suspicion == 0.6


def test_another_kind_of_observation_removes_a_part_of_the_doubt() -> None:
    text = finding("UM005", FaultType.HLR, 0.6)
    losses = finding("UM011", FaultType.HLR, 0.5, observes=Observes.LOSSES)
    again = finding("RE019", FaultType.HLR, 0.4, observes=Observes.LOSSES)
    (one,) = grouped([text, losses, again])
    assert one.suspicion == pytest.approx(1 - 0.4 * (1 - 0.25 * 0.5))


def test_activations_wrong_missing_and_redundant_are_one_thing_at_one_layer() -> None:
    found = grouped(
        [
            finding("NL009", FaultType.ARM, 0.8, layer="dense", layer_index=0),
            finding("RE027", FaultType.ACH, 0.7, layer="dense", layer_index=0),
            finding("RE023", FaultType.ACH, 0.3, layer="dense_1", layer_index=1),
        ]
    )
    assert [(one.layer, len(one.witnesses)) for one in found] == [
        ("dense", 2),
        ("dense_1", 1),
    ]
    assert found[0].fault is FaultType.ARM
    assert found[0].key == ("ACH", "dense", "")


def test_symptoms_stay_apart_and_the_surest_comes_first() -> None:
    found = grouped(
        [
            finding("RE029", None, 0.9),
            finding("RE020", None, 0.7),
            finding("RE014", FaultType.HNE, 0.95),
        ]
    )
    assert [(one.first.code, one.fault) for one in found] == [
        ("RE014", FaultType.HNE),
        ("RE029", None),
        ("RE020", None),
    ]


def test_two_detectors_of_one_fault_without_a_type_are_one_finding() -> None:
    named = [
        replace(finding(code, None, 0.7).first, fault_name="padding-attended", observes=observes)
        for code, observes in (("RE036", Observes.TEXT), ("RE110", Observes.DATA))
    ]
    (one,) = grouped([finding_of(observation) for observation in named])
    assert [seen.code for seen in one.observations] == ["RE036", "RE110"]
    assert one.suspicion > 0.7
    symptoms = [replace(observation, is_root_cause=False) for observation in named]
    assert len(grouped([finding_of(observation) for observation in symptoms])) == 2


def test_a_learning_rate_seen_at_a_layer_belongs_to_the_training() -> None:
    (one,) = grouped(
        [
            finding("RE022", FaultType.HLR, 0.9, layer="dense", layer_index=0),
            finding("UM005", FaultType.HLR, 0.3, hyperparameter=RATE),
        ]
    )
    assert (one.layer, one.layer_index, one.hyperparameter) == ("", None, RATE)


def test_what_is_proven_explains_what_was_observed() -> None:
    found = grouped(
        [
            finding("RE010", FaultType.ZGR, 0.95),
            finding("RE019", FaultType.HLR, 0.8, hyperparameter=RATE, in_the_run=True),
            finding("RE014", FaultType.HNE, 0.8, observes=Observes.LOSSES, in_the_run=True),
            finding("UM013", FaultType.HNE, 0.3),
        ]
    )
    assert {one.fault: round(one.suspicion, 2) for one in found} == {
        FaultType.ZGR: 0.95,
        FaultType.HNE: 0.82,
        FaultType.HLR: 0.48,
    }


def test_beside_proof_a_hint_is_less_likely_and_what_is_strong_is_not() -> None:
    proven = finding("RE004", FaultType.CPP, 0.9).refined(certainty=Certainty.PROOF)
    strong = finding("RE003", FaultType.LCH, 0.7).refined(certainty=Certainty.STRONG)
    hint = finding("RE019", FaultType.HLR, 0.7, hyperparameter=RATE)
    found = {one.fault: one for one in grouped([proven, strong, hint])}
    assert found[FaultType.HLR].suspicion == pytest.approx(0.42)
    assert found[FaultType.LCH].suspicion == 0.7
    assert found[FaultType.CPP].confidence >= 0.95


def test_where_the_training_works_a_hint_is_less_likely_and_what_is_strong_is_not() -> None:
    strong = finding("RE003", FaultType.LCH, 0.7).refined(certainty=Certainty.STRONG)
    hint = finding("RE019", FaultType.HLR, 0.7, hyperparameter=RATE)
    found = {one.fault: one.suspicion for one in grouped([strong, hint], health=Health.WORKS)}
    assert found == {FaultType.HLR: pytest.approx(0.42), FaultType.LCH: 0.7}


@pytest.mark.parametrize(
    ("health", "reported"),
    [
        (
            Health.FAILS,
            {"hint", "two hints", "twice the same", "strong", "of evaluation", "proof"},
        ),
        (
            Health.UNSEEN,
            {"hint", "two hints", "twice the same", "strong", "of evaluation", "proof"},
        ),
        (Health.UNCLEAR, {"two hints", "strong", "of evaluation", "proof"}),
        (Health.WORKS, {"of evaluation", "proof"}),
    ],
)
def test_what_a_training_speaks_against_is_not_reported_untried(
    health: Health, reported: set[str]
) -> None:
    """A hint alone needs a training that fails; one that learns has no fault that keeps it from
    learning.
    """
    strong, proof = {"certainty": Certainty.STRONG}, {"certainty": Certainty.PROOF}
    more = finding("RE016", FaultType.RCD, 0.7, observes=Observes.WEIGHTS)
    cases = {
        "hint": [finding("RE019", FaultType.HLR, 0.8)],
        "two hints": [finding("UM010", FaultType.RCD, 0.8), more],
        "twice the same": [
            finding("UM010", FaultType.RCD, 0.8),
            finding("RE016", FaultType.RCD, 0.7),
        ],
        "strong": [finding("RE001", FaultType.ACH, 0.9).refined(**strong)],
        # Hints beside it that the training speaks against take nothing from it.
        "of evaluation": [
            finding("RE007", FaultType.CPP, 0.9, of_held_out_rows=True).refined(**strong),
            finding("UM001", FaultType.CPP, 0.35),
        ],
        "proof": [finding("RE010", FaultType.ZGR, 0.9).refined(**proof)],
    }
    suspects = {name: grouped(found, health=health)[0] for name, found in cases.items()}
    assert {name for name, one in suspects.items() if one.confidence >= THRESHOLD} == reported


def test_without_a_proof_observations_keep_their_weight() -> None:
    (one,) = grouped([finding("RE019", FaultType.HLR, 0.8, hyperparameter=RATE, in_the_run=True)])
    assert one.suspicion == 0.8


@pytest.mark.parametrize(("confidence", "left"), [(0.89, 0.8), (0.9, 0.48)])
def test_only_what_is_as_good_as_proven_explains_what_was_seen_in_the_run(
    confidence: float, left: float
) -> None:
    written = finding("RE010", FaultType.ZGR, confidence)
    seen = finding("RE019", FaultType.HLR, 0.8, hyperparameter=RATE, in_the_run=True)
    found = {one.fault: one.suspicion for one in grouped([written, seen])}
    assert found == {FaultType.ZGR: confidence, FaultType.HLR: pytest.approx(left)}


def test_what_the_run_alone_shows_explains_nothing_else_in_it() -> None:
    seen = finding("RE010", FaultType.ZGR, 0.95, in_the_run=True)
    other = finding("RE019", FaultType.HLR, 0.8, hyperparameter=RATE, in_the_run=True)
    assert {one.suspicion for one in grouped([seen, other])} == {0.95, 0.8}


def test_a_symptom_neither_explains_nor_is_explained() -> None:
    symptom = finding("RE029", None, 0.95, is_root_cause=False, in_the_run=True)
    written = finding("RE010", FaultType.ZGR, 0.95)
    seen = finding("RE019", FaultType.HLR, 0.8, hyperparameter=RATE, in_the_run=True)
    found = {one.first.code: one for one in grouped([symptom, seen])}
    assert found["RE019"].suspicion == 0.8
    found = {one.first.code: one for one in grouped([symptom, written])}
    strong = found["RE029"]
    assert (strong.suspicion, strong.confidence) == (0.95, 0.95), "a symptom is not calibrated"


@pytest.mark.parametrize("certainty", [Certainty.STRONG, Certainty.PROOF])
def test_a_symptom_however_sure_is_no_cause(certainty: Certainty) -> None:
    symptom = finding("RE029", None, 0.95, is_root_cause=False, certainty=certainty)
    seen = finding("RE019", FaultType.HLR, 0.8, hyperparameter=RATE, in_the_run=True)
    found = {one.first.code: one for one in grouped([symptom, seen])}
    assert found["RE019"].suspicion == 0.8


@pytest.mark.parametrize(("begun", "left"), [(True, 0.7), (False, 0.42)])
def test_where_a_training_has_hardly_begun_a_hint_is_less_likely(begun: bool, left: float) -> None:
    (hint,) = grouped([finding("RE019", FaultType.HLR, 0.7)], health=Health.UNSEEN, begun=begun)
    assert hint.suspicion == pytest.approx(left)


def test_of_two_as_likely_the_one_with_the_lower_code_comes_first() -> None:
    found = grouped([finding("UM010", FaultType.RCD, 0.7), finding("RE019", FaultType.HLR, 0.7)])
    assert [one.first.code for one in found] == ["RE019", "UM010"]


def test_an_opinion_explains_nothing_and_comes_last() -> None:
    opinion = replace(
        finding("UM005", FaultType.OCH, 0.95, is_calibrated=True).first,
        observes=Observes.OPINION,
    )
    seen = finding("RE019", FaultType.HLR, 0.8, in_the_run=True, observes=Observes.LOSSES)
    first, last = grouped([finding_of(opinion), seen])
    assert (first.first.code, first.suspicion) == ("RE019", 0.8)
    assert last.is_opinion


def test_opinions_of_one_fault_at_two_places_stay_two() -> None:
    places = [Place(PurePosixPath("train.py"), line) for line in (3, 9)]
    opinions = [
        finding("UM005", FaultType.HLR, 0.5, observes=Observes.OPINION, place=place)
        for place in places
    ]
    assert [one.place for one in grouped(opinions)] == places
    assert len({one.key for one in grouped(opinions)}) == 2


def test_a_rate_that_is_too_low_has_no_witness_that_calls_it_too_high() -> None:
    lower = finding(
        "UM005", FaultType.HLR, 0.6, hyperparameter=RATE, suggestions=(suggestion(0.001),)
    )
    higher = finding(
        "RE019",
        FaultType.HLR,
        0.7,
        hyperparameter=RATE,
        suggestions=(suggestion(30.0),),
        certainty=Certainty.STRONG,
        observes=Observes.LOSSES,
    )
    silent = finding("RE040", FaultType.HLR, 0.5, hyperparameter=RATE)
    first, second = grouped([lower, higher, silent])
    assert [one.code for one in first.observations] == ["RE019", "RE040"]
    assert [one.code for one in second.observations] == ["UM005"]
