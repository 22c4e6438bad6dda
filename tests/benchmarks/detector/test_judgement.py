"""The curve from how sure a rule is to how often it is right."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks.detector.judgement import SUREST, Statement, judged

RNG = np.random.default_rng(0)


def _overconfident(bases: str = "abcd", each: int = 200) -> list[Statement]:
    """Suspects that are right half as often as the rules are sure."""
    confidences = RNG.uniform(0.05, 0.95, size=(len(bases), each))
    return [
        Statement(base, float(sure), bool(RNG.uniform() < sure / 2))
        for base, row in zip(bases, confidences, strict=True)
        for sure in row
    ]


def test_the_curve_corrects_rules_that_are_too_sure() -> None:
    found = judged(_overconfident())
    assert found.curve.at(0.9) == pytest.approx(0.45, abs=0.12)
    assert found.curve.at(0.2) < found.curve.at(0.9)
    assert found.brier_by_curve < found.brier
    assert list(found.curve.shares) == sorted(found.curve.shares)


def test_confidences_that_are_worth_nothing_are_not_made_worth_something() -> None:
    rng = np.random.default_rng(1)
    noise = [
        Statement(base, float(rng.uniform()), bool(rng.uniform() < 0.3))
        for base in "abcd"
        for _ in range(200)
    ]
    found = judged(noise)
    assert found.brier_by_curve > 0.95 * found.brier_of_share


def test_nobody_is_surer_than_a_thousand_suspects_warrant() -> None:
    found = judged([Statement(base, 0.99, True) for base in "ab" for _ in range(20)])
    assert found.curve.at(1.0) == SUREST
