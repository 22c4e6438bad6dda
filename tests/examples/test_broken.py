"""The broken examples: each is explained in the README, none gives itself away, reading tells
some.
"""

from __future__ import annotations

import re
import tokenize
from pathlib import Path

import pytest

from reenact.diagnosis.judge import read_only
from reenact.faults.detector import run_detectors
from reenact.faults.fault_type import FaultType
from reenact.faults.registry import chosen
from reenact.program.program import read_program

FOLDER = Path(__file__).parents[2] / "examples" / "broken"
PROGRAMS = sorted(FOLDER.glob("*.py"))
READ_OFF = {
    "torch_spirals.py": FaultType.HLR,
    "torch_gestures.py": FaultType.ZGR,
    "torch_glyphs.py": FaultType.AAL,
    "keras_churn.py": FaultType.ACH,
    "keras_birds.py": FaultType.RCD,
    "keras_beats.py": FaultType.WCI,
    "keras_topics.py": FaultType.ARM,
}
"""Faults that the text alone shows; the others need a run."""


def test_there_are_programs_of_both_frameworks_and_the_readme_tells_of_each() -> None:
    text = (FOLDER / "README.md").read_text(encoding="utf-8")
    listed = re.findall(r"^\| `(\w+\.py)` \|", text, re.MULTILINE)
    assert sorted(listed) == [program.name for program in PROGRAMS]
    assert sum(name.startswith("torch_") for name in listed) >= 5
    assert sum(name.startswith("keras_") for name in listed) >= 5


@pytest.mark.parametrize("path", PROGRAMS, ids=lambda path: path.name)
def test_no_comment_gives_the_fault_away(path: Path) -> None:
    with tokenize.open(path) as file:
        comments = [
            token.string
            for token in tokenize.generate_tokens(file.readline)
            if token.type == tokenize.COMMENT
        ]
    assert comments == []


@pytest.mark.parametrize(("name", "fault"), READ_OFF.items())
def test_reading_alone_names_the_fault_and_its_line(name: str, fault: FaultType) -> None:
    program = read_program((name,), FOLDER)
    found = [one for one in run_detectors(chosen(), read_only(program)) if one.fault is fault]
    assert found, f"no rule reports {fault}"
    assert any(one.place is not None and program.line(one.place).strip() for one in found)
