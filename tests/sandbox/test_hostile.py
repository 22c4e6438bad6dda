"""Every hostile program and every benign twin on the tier that is used when none is named."""

from __future__ import annotations

import sys

import pytest

from benchmarks.hostile.case import Case, benign_cases, hostile_cases
from benchmarks.hostile.judge import Judgement, judge, lacking
from reenact.sandbox.choose import describe
from reenact.sandbox.tiers.sandlock import Sandlock

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the tiers that protect need Linux")

SANDLOCK_HOLDS = [
    "H01a",
    "H05b",
    "H06d",
    "H17",
    "H19",
    "H21a",
    "H25",
    "H26",
    "H27",
    "H29b",
    "H30a",
    "H30b",
    "H31a",
    "H32b",
    "H33a",
    "H36",
    "H39a",
]
"""What sandlock is trusted for, a program of each kind."""
SANDLOCK_LETS_OUT = {
    "H29a": "Landlock has no right for a change of mode",
    "H43a": "Landlock has no right for a change of mode",
}


@pytest.fixture(scope="session")
def tier() -> str:
    reports = describe()
    found = next((report.name for report in reports if report.chosen), "")
    if not found:
        pytest.skip(
            f"no sandbox works here: "
            f"{'; '.join(report.missing for report in reports if report.missing)}"
        )
    return found


@pytest.fixture(scope="session")
def sandlock() -> str:
    missing = Sandlock().missing()
    if missing:
        pytest.skip(missing)
    return Sandlock.name


def judged(case: Case, tier: str) -> Judgement:
    if lacking(case):
        pytest.skip(f"needs {lacking(case)}")
    return judge(case, tier)


def check(judgement: Judgement) -> None:
    """All but the time, which says nothing about a sandbox on a busy machine; the benchmark
    looks at it.
    """
    assert judgement.contained, judgement.complaints
    assert judgement.named, judgement.complaints
    assert judgement.unchanged, judgement.complaints
    assert judgement.small, judgement.complaints


@pytest.mark.sample(6)
@pytest.mark.parametrize("case", hostile_cases(), ids=lambda case: case.id)
def test_the_default_tier_contains(case: Case, tier: str) -> None:
    check(judged(case, tier))


@pytest.mark.sample(5)
@pytest.mark.parametrize("case", benign_cases(), ids=lambda case: case.id)
def test_the_default_tier_lets_live(case: Case, tier: str) -> None:
    if case.slow:
        pytest.skip("slow; run by: python -m benchmarks sandbox")
    check(judged(case, tier))


@pytest.mark.sample(6)
@pytest.mark.parametrize(
    "case",
    [case for case in hostile_cases() if case.id in SANDLOCK_HOLDS],
    ids=lambda case: case.id,
)
def test_sandlock_contains_what_it_is_trusted_for(case: Case, sandlock: str) -> None:
    check(judged(case, sandlock))


@pytest.mark.parametrize(
    "case",
    [case for case in hostile_cases() if case.id in SANDLOCK_LETS_OUT],
    ids=lambda case: case.id,
)
def test_sandlock_is_not_trusted_with_more_than_it_holds(case: Case, sandlock: str) -> None:
    """When this fails, sandlock has learnt something: trust it with that program."""
    assert not judged(case, sandlock).contained, SANDLOCK_LETS_OUT[case.id]
