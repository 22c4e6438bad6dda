"""Confidence of a finding, read off the calibration curve."""

from __future__ import annotations

from dataclasses import replace

import pytest

from reenact.diagnosis.grouping import grouped
from reenact.diagnosis.options import THRESHOLD
from reenact.faults.confidence import CalibrationCurve, shipped
from reenact.faults.fault_type import FaultType
from reenact.faults.finding import finding_of
from reenact.faults.observation import Observation, Severity

FOUND = Observation(
    code="RE003",
    name="loss-of-another-task",
    family="reenact",
    fault=FaultType.LCH,
    severity=Severity.ERROR,
    saw="mse for classes",
    why="because",
    confidence=0.9,
)


def test_between_two_points_lies_their_line_and_beyond_them_nothing_more() -> None:
    curve = CalibrationCurve((0.2, 0.6), (0.1, 0.5))
    assert curve.at(0.4) == pytest.approx(0.3)
    assert (curve.at(0.0), curve.at(1.0)) == (0.1, 0.5)


def test_the_shipped_curve_never_falls_and_a_sure_rule_stays_above_the_threshold() -> None:
    curve = shipped()
    assert len(curve.confidences) == len(curve.shares)
    assert list(curve.shares) == sorted(curve.shares)
    assert all(0 <= share <= 1 for share in curve.shares)
    assert curve.at(0.3) < THRESHOLD < curve.at(0.9)


def test_a_rule_is_read_off_the_curve_and_an_opinion_that_calibrates_itself_is_not() -> None:
    (ruled,) = grouped([finding_of(FOUND)])
    (learned,) = grouped([finding_of(replace(FOUND, is_calibrated=True))])
    assert (ruled.suspicion, ruled.confidence) == (0.9, shipped().at(0.9))
    assert learned.confidence == 0.89, "an opinion, however sure, is not proven"
