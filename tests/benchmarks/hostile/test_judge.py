"""The judge can fail: programs that are not confined are seen to escape."""

from __future__ import annotations

import dataclasses
import sys

import pytest

from benchmarks.hostile.case import Case, benign_cases, hostile_cases
from benchmarks.hostile.judge import Judgement, judge
from reenact.sandbox.box import MIB, Ending

pytestmark = [
    pytest.mark.release,
    pytest.mark.skipif(sys.platform != "linux", reason="the judge reads facts of a Linux host"),
]

CASES = {case.id: case for case in (*hostile_cases(), *benign_cases())}
BARE = {
    "H02": "600 threads live",
    "H05c": "a shared memory segment",
    "H19": "processes outlived the box",
    "H21a": "the bystander was killed",
    "H23": "3 processes outlived the box",
    "H25": "a secret came out",
    "H26": "a secret came out",
    "H29a": "changed on the host: outside/canary.txt",
    "H30a": "the unix listener was called",
    "H30b": "the abstract listener was called",
    "H31d": "the tcp listener was called",
}
NONE = {
    "H27": "a secret came out",
    "H29b": "changed on the host: outside/canary.txt",
    "H31a": "the udp listener was called",
}


@pytest.mark.parametrize("number", BARE)
def test_a_plain_subprocess_contains_nothing(number: str) -> None:
    found = judge(CASES[number], "bare")
    assert not found.contained
    assert not found.passed
    assert any(BARE[number] in complaint for complaint in found.complaints), found.complaints


@pytest.mark.parametrize("number", NONE)
def test_the_tier_none_contains_nothing(number: str) -> None:
    found = judge(CASES[number], "none")
    assert not found.contained
    assert any(NONE[number] in complaint for complaint in found.complaints), found.complaints


def test_a_supervisor_that_dies_is_an_escape() -> None:
    found = judge(CASES["H21a"], "bare")
    assert any("the supervisor died" in escape for escape in found.escapes), found.complaints
    assert not found.named


def test_a_tier_that_is_not_there_fails_every_case() -> None:
    found = judge(CASES["H25"], "no-such-tier")
    assert not found.contained
    assert not found.named


def test_a_wrong_ending_is_misnamed() -> None:
    case = CASES["B07"]
    assert judge(case, "none").passed
    wrong = dataclasses.replace(case, endings=(Ending.TIMEOUT,))
    found = judge(wrong, "none")
    assert not found.named
    assert "wanted timeout, got ending=ok" in found.complaints[0]


def judgement(case: Case = CASES["H25"], **changes: object) -> Judgement:
    well = Judgement(
        case,
        "x",
        "ok",
        (),
        (),
        (),
        left_running=0,
        late_s=-1.0,
        supervisor_bytes=20 * MIB,
    )
    return dataclasses.replace(well, **changes)


@pytest.mark.parametrize(
    ("changes", "failed", "words"),
    [
        ({"escapes": ("a secret came out",)}, {"contained"}, "a secret came out"),
        ({"misnamed": ("wanted ok",)}, {"named"}, "wanted ok"),
        (
            {"changes": ("left in the temporary folder: x",)},
            {"unchanged"},
            "left in the temporary folder",
        ),
        (
            {"left_running": 2},
            {"contained", "gone", "unchanged"},
            "2 processes outlived the box",
        ),
        ({"late_s": 2.5}, {"gone"}, "2.5 s after its deadline"),
        ({"supervisor_bytes": 300 * MIB}, {"small"}, "the supervisor took 300 MiB"),
    ],
)
def test_every_single_fault_fails_the_case(
    changes: dict[str, object], failed: set[str], words: str
) -> None:
    found = judgement(**changes)
    checks = ("contained", "named", "gone", "unchanged", "small")
    assert {check for check in checks if not getattr(found, check)} == failed
    assert not found.passed
    assert any(words in complaint for complaint in found.complaints)


def test_a_clean_run_passes() -> None:
    assert judgement().passed
    assert judgement().complaints == ()
