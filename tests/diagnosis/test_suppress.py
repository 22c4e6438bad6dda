"""Comments that wave a finding through."""

from __future__ import annotations

from pathlib import PurePosixPath

import pytest

from reenact.diagnosis.suppress import unsuppressed
from reenact.faults.finding import Finding, finding_of
from reenact.faults.observation import Observation, Severity
from reenact.program.program import program_from_text
from reenact.types import Place


def finding(line: int, code: str = "UM005") -> Finding:
    place = Place(PurePosixPath("train.py"), line, 0, line, 5)
    seen = Observation(
        code,
        "learning-rate-high",
        "umlaut",
        None,
        Severity.WARNING,
        "saw",
        "why",
        0.5,
        place=place,
    )
    return finding_of(seen)


@pytest.mark.parametrize(
    ("comment", "kept"),
    [
        ("# reenact: ignore", False),
        ("# reenact: ignore[UM005]", False),
        ("# reenact:ignore[NL004, UM]", False),
        ("# reenact: ignore[learning-rate-high]", False),
        ("# reenact: ignore[umlaut]", False),
        ("# reenact: ignore[UM006]", True),
        ("# we ignore this", True),
    ],
)
def test_on_the_line(comment: str, kept: bool) -> None:
    program = program_from_text(f"a = 1\nb = 2  {comment}\n")
    assert bool(unsuppressed([finding(2)], program)) is kept
    assert unsuppressed([finding(1)], program)


def test_in_the_whole_file() -> None:
    program = program_from_text("# reenact: ignore-file[UM005]\na = 1\n")
    assert [one.code for one in unsuppressed([finding(2), finding(2, "NL004")], program)] == [
        "NL004"
    ]
