"""The one finding from detector to report: what it reads off its observations, and who may say how
sure it is.
"""

from __future__ import annotations

import ast
from dataclasses import replace
from pathlib import Path, PurePosixPath

import pytest

import reenact
from made_evidence import trace
from reenact.diagnosis.judge import findings_of
from reenact.diagnosis.options import DiagnoseOptions
from reenact.faults.confidence import Health, Word, shipped
from reenact.faults.evidence import Evidence
from reenact.faults.fault_type import FaultType
from reenact.faults.finding import Finding, finding_of, merged
from reenact.faults.observation import (
    Certainty,
    Observation,
    Observes,
    Refused,
    Severity,
    Suggestion,
)
from reenact.faults.registry import all_detectors
from reenact.faults.tried import ChangeEffect, InterventionResult
from reenact.probe.trace import Metric, Overlap
from reenact.program.edit.change import Rewrite, Set
from reenact.program.hyperparameter import HyperparameterId, Kind
from reenact.program.patch import Patch
from reenact.types import Place

HERE = Path(reenact.__file__).parent
OWNER = HERE / "faults" / "finding.py"
HOW_SURE = {"confidence", "suspicion", "is_doubted"}
RATE = HyperparameterId("train.py", "", "", Kind.LEARNING_RATE)
EFFECT = ChangeEffect(
    patch=Patch(()), metric="accuracy", larger_is_better=True, before=(0.5,), after=(0.9,)
)


def observed(code: str, confidence: float, fault: FaultType | None = FaultType.HLR) -> Observation:
    return Observation(
        code=code,
        name=code.lower(),
        family="reenact",
        fault=fault,
        severity=Severity.ERROR,
        saw=f"seen by {code}",
        why="It must not be.",
        confidence=confidence,
    )


def both(*observations: Observation) -> Finding:
    return merged(finding_of(one) for one in observations)


def at(line: int) -> Place:
    return Place(PurePosixPath("train.py"), line)


def edit(text: str) -> Suggestion:
    return Suggestion(
        Patch((Rewrite("train.py", "step()", text),)), None, None, None, f"writes {text}"
    )


def test_edits_of_code_and_why_there_is_none_are_those_of_all_who_saw_it() -> None:
    """The likeliest of the surest first, each once; hyperparameters are suggested apart."""
    sure = replace(observed("RE010", 0.9), candidates=(edit("a()"), edit("b()")))
    other = replace(
        observed("RE120", 0.5),
        candidates=(edit("b()"), edit("c()")),
        refused=(Refused("The optimizer is made in another file."),),
    )
    found = both(other, sure)
    assert [one.does for one in found.candidates] == ["writes a()", "writes b()", "writes c()"]
    assert [one.reason for one in found.refused] == ["The optimizer is made in another file."]
    assert found.suggestions == ()
    written = found.json_fields()
    assert [one.does for one in written["candidates"]] == [
        "writes a()",
        "writes b()",
        "writes c()",
    ]
    assert written["refused"] == ("The optimizer is made in another file.",)


def test_an_edit_of_code_comes_before_another_value() -> None:
    turned = Suggestion(Patch((Set(RATE, 0.1),)), RATE, 1.0, 0.1)
    found = finding_of(
        replace(observed("RE010", 0.9), suggestions=(turned,), candidates=(edit("stride()"),))
    )
    assert found.edits == (edit("stride()"), turned)


def test_a_detector_says_how_sure_it_is_and_nothing_was_tried() -> None:
    found = finding_of(observed("RE019", 0.7))
    assert (found.suspicion, found.confidence, found.word) == (0.7, 0.7, Word.LIKELY)
    assert found.status is InterventionResult.UNTRIED
    assert found.witnesses == found.observations


def test_every_observation_is_kept_and_each_detector_is_one_witness() -> None:
    found = both(observed("UM005", 0.4), observed("RE019", 0.8), observed("RE019", 0.6))
    assert [(one.code, one.confidence) for one in found.observations] == [
        ("RE019", 0.8),
        ("RE019", 0.6),
        ("UM005", 0.4),
    ]
    assert [(one.code, one.confidence) for one in found.witnesses] == [
        ("RE019", 0.8),
        ("UM005", 0.4),
    ]


def test_a_second_observation_of_a_detector_adds_its_kind_and_not_its_certainty() -> None:
    surest = observed("RE019", 0.8)
    second = replace(
        observed("RE019", 0.6), observes=Observes.LOSSES, certainty=Certainty.PROOF, place=at(9)
    )
    found = both(surest, second)
    assert found.suspicion == pytest.approx(1 - 0.2 * (1 - 0.25 * 0.6))
    assert found.certainty is Certainty.HINT
    assert found.line == 9


def test_a_hyperparameter_stands_at_its_own_place() -> None:
    seen = replace(observed("RE019", 0.9), place=at(3))
    written = replace(observed("UM005", 0.4), place=at(7), hyperparameter=RATE)
    assert both(seen, written).line == 7
    assert both(seen, replace(written, hyperparameter=None)).line == 3


def test_what_belongs_to_the_training_stands_at_no_layer() -> None:
    in_layer = replace(observed("RE022", 0.9), place=at(3), layer="dense", layer_index=0)
    elsewhere = replace(observed("UM005", 0.4), place=at(7))
    rate = both(in_layer, elsewhere)
    assert (rate.layer, rate.layer_index, rate.line) == ("", None, 7)
    activation = both(*(replace(one, fault=FaultType.ACH) for one in (in_layer, elsewhere)))
    assert (activation.layer, activation.layer_index, activation.line) == ("dense", 0, 3)


def test_a_detector_refines_its_own_observation_and_nobody_a_merged_finding() -> None:
    found = finding_of(observed("RE019", 0.7)).refined(confidence=0.4, place=at(5))
    assert (found.suspicion, found.confidence, found.line) == (0.4, 0.4, 5)
    with pytest.raises(ValueError, match="unpack"):
        both(observed("RE019", 0.7), observed("UM005", 0.4)).refined(confidence=0.9)


def test_a_suspicion_stays_while_trials_change_the_confidence() -> None:
    found = finding_of(observed("RE019", 0.7)).calibrated()
    assert found.confidence == pytest.approx(0.49, abs=0.005)
    assert found.confirmed(EFFECT).confidence == 0.9
    refuted = found.refuted(EFFECT, "no difference")
    assert refuted.confidence == pytest.approx(0.4 * found.confidence)
    assert (refuted.note, refuted.tried) == ("no difference", EFFECT)
    assert found.demoted(0.45, "tuning").confidence == pytest.approx(0.44)
    assert {one.suspicion for one in (found.confirmed(EFFECT), refuted)} == {0.7}


def test_what_explains_a_finding_lowers_suspicion_and_confidence() -> None:
    found = finding_of(observed("RE019", 0.5)).explained()
    assert (found.suspicion, found.confidence) == (pytest.approx(0.3), pytest.approx(0.3))


def test_a_finding_that_the_training_speaks_against_is_doubted() -> None:
    found = finding_of(observed("RE019", 0.9))
    assert found.weighed(Health.WORKS).is_doubted
    assert not found.weighed(Health.FAILS).is_doubted
    assert found.weighed(Health.WORKS).calibrated().confidence == 0.4
    assert found.weighed(Health.FAILS).calibrated().confidence == shipped().at(0.9)


@pytest.mark.parametrize("fault", FaultType)
def test_every_fault_type_says_what_holds_of_it(fault: FaultType) -> None:
    assert fault.traits.kinds
    assert fault.counted_as.counted_as is fault.counted_as


@pytest.mark.parametrize(("stand_in", "codes"), [((), ["UM012"]), (("mnist",), [])])
def test_made_up_rows_are_not_judged(stand_in: tuple[str, ...], codes: list[str]) -> None:
    """A detector that judges rows, here those that training and validation share."""
    metrics = tuple(
        Metric("val_accuracy", value, step, step, 0.0, "keras")
        for step, value in enumerate((0.5, 0.6))
    )
    run = trace([1.0] * 20, metrics=metrics, overlaps=(Overlap("validation", 100, 100),))
    evidence = Evidence(trace=run, stand_in_data=stand_in)
    findings = findings_of(evidence, DiagnoseOptions(select=("UM012",)))
    assert [one.code for one in findings] == codes


@pytest.mark.parametrize(("stand_in", "codes"), [((), ["RE033"]), (("mnist",), [])])
def test_how_made_up_rows_are_prepared_is_not_judged(
    stand_in: tuple[str, ...], codes: list[str]
) -> None:
    """By its fault type, whoever says it."""
    said = finding_of(observed("RE033", 0.9, FaultType.CPP))
    evidence = Evidence(stand_in_data=stand_in)
    findings = findings_of(evidence, DiagnoseOptions(select=("UM012",)), [said])
    assert [one.code for one in findings] == codes


def test_a_finding_says_what_its_detector_is_about() -> None:
    for one in all_detectors():
        seen = one.finding(Evidence(), "saw").first
        assert seen.detects is one.study
        assert seen.of_held_out_rows is one.of_held_out_rows


def changes_of_certainty(file: Path) -> list[int]:
    """Lines of a file where a finding is given another confidence; that of an observation which
    is about to become a finding is its detector's own judgement.
    """
    tree = ast.parse(file.read_text(encoding="utf-8"))
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call)]
    own = {id(given) for call in calls if named(call) == "finding_of" for given in call.args}
    return [
        call.lineno
        for call in calls
        if named(call) in ("replace", "Finding")
        and id(call) not in own
        and HOW_SURE & {word.arg for word in call.keywords}
    ]


def named(call: ast.Call) -> str:
    return getattr(call.func, "id", getattr(call.func, "attr", ""))


def test_nobody_else_says_how_sure_a_finding_is() -> None:
    """`faults/finding.py` sets what `faults/confidence.py` gives."""
    assert len(changes_of_certainty(OWNER)) >= 6
    others = [file for file in HERE.rglob("*.py") if file != OWNER]
    assert {str(file): lines for file in others if (lines := changes_of_certainty(file))} == {}
