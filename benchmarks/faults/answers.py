"""From findings to the answer that is scored: fault types with the layers of `model.layers`."""

from __future__ import annotations

from collections.abc import Iterable

from benchmarks.faults.scores import FAMILY, Answer
from reenact.diagnosis.diagnosis import Diagnosis
from reenact.faults.detector import Detector, run_detectors
from reenact.faults.evidence import Evidence
from reenact.faults.fault_type import FaultType


def answer_of(diagnosis: Diagnosis) -> Answer:
    """What a diagnosis reports."""
    return _answer(
        ((one.fault, one.layer, one.layer_index) for one in diagnosis.findings),
        diagnosis.evidence,
    )


def reported_by(diagnosis: Diagnosis) -> list[tuple[str, float]]:
    """The same one by one, as `HLR` or `ACH(2)`, each with its confidence."""
    found = []
    for one in diagnosis.findings:
        for fault, index in _answer([(one.fault, one.layer, one.layer_index)], diagnosis.evidence):
            found.append(
                (
                    fault.value if index is None else f"{fault.value}({index})",
                    one.confidence,
                )
            )
    return found


def answer_by(rules: Iterable[Detector], evidence: Evidence, least: float = 0.0) -> Answer:
    """What some rules accuse on their own, as their tool would: every finding counts."""
    return _answer(
        (
            (finding.first.fault, finding.first.layer, finding.first.layer_index)
            for finding in run_detectors(rules, evidence)
            if finding.confidence >= least
        ),
        evidence,
    )


def _answer(
    findings: Iterable[tuple[FaultType | None, str, int | None]], evidence: Evidence
) -> Answer:
    return frozenset(
        (
            fault,
            activation_index(evidence, layer, index)
            if FAMILY.get(fault, fault) is FaultType.ACH
            else index,
        )
        for fault, layer, index in findings
        if fault is not None
    )


def activation_index(evidence: Evidence, layer: str, index: int | None) -> int | None:
    """An activation that stands as a layer of its own is counted there, as the benchmark does."""
    views = evidence.layers
    at = next((number for number, view in enumerate(views) if view.name == layer), None)
    if at is None or views[at].own_activation or not views[at].weighted:
        return index
    for view in views[at + 1 :]:
        if view.weighted:
            return index
        if view.own_activation and view.index is not None:
            return view.index
    return index
