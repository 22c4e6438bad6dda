"""A fix is an edit that was executed: what crashes, or leaves the detector firing, is never shown as one."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest

from made_evidence import trace
from reenact.diagnosis.fixes.scratch import Length, Scratch
from reenact.diagnosis.fixes.text import TextCheck
from reenact.diagnosis.fixes.tried import length_for, try_edits, with_judged, worth_trying
from reenact.diagnosis.judge import judging, read_only, spoken_by
from reenact.diagnosis.options import DiagnoseOptions
from reenact.faults.detector import run_detectors
from reenact.faults.evidence import Evidence
from reenact.faults.finding import Finding, finding_of
from reenact.faults.fix import FixTried
from reenact.faults.observation import Suggestion
from reenact.faults.registry import detector
from reenact.program.edit.change import Change, Rewrite
from reenact.program.patch import Patch
from reenact.program.program import Program, read_program
from reenact.trials.pool import ProcessPool
from reenact.types import Stop

pytestmark = pytest.mark.usefixtures("warm_python")

SCALED = """import torch
from torch import nn
from reenact.testing.toys import blobs

x, y = map(torch.from_numpy, blobs())
model = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 3))
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
scaler = torch.amp.GradScaler("cpu")
for epoch in range(12):
    loss = nn.functional.cross_entropy(model(x), y)
    scaler.scale(loss).backward()
    scaler.step(optimizer)
    scaler.update()
"""
OPTIONS = DiagnoseOptions()
BACKWARD = "    scaler.scale(loss).backward()\n"


def put_before(line: str) -> Patch:
    return Patch((Rewrite("train.py", BACKWARD, f"    {line}\n{BACKWARD}", by_template=True),))


CRASHES = put_before("scaler.zero_grad()")
MENDS = put_before("optimizer.zero_grad()")
DOES_NOTHING = put_before("model.train()")
FEWER = Patch((*MENDS.changes, Rewrite("train.py", "range(12)", "range(9)", by_template=True)))


@pytest.fixture
def program(tmp_path: Path) -> Program:
    (tmp_path / "train.py").write_text(SCALED)
    return read_program(("train.py",), tmp_path)


@pytest.fixture(scope="module")
def pool() -> Iterator[ProcessPool]:
    with ProcessPool(2) as found:
        yield found


def not_cleared(program: Program, *edits: Patch) -> Finding:
    """The finding of the program, with these edits in place of its own."""
    (one,) = run_detectors([detector("RE010")], read_only(program))
    suggestions = tuple(Suggestion(patch, None, None, None) for patch in edits)
    return finding_of(replace(one.first, suggestions=suggestions, candidates=()))


def judged(
    program: Program, pool: ProcessPool, *edits: Patch, length: Length | None = None
) -> Finding:
    check = TextCheck(program, judging(OPTIONS))
    scratch = Scratch(
        read_only(program), pool, partial(spoken_by, OPTIONS), length or Length(600.0), Stop()
    )
    finding = not_cleared(program, *edits)
    # The text alone is not asked: what is shown here is what running shows.
    (one,) = try_edits([(finding, list(edits))], check, scratch)
    return with_judged(finding, one)


def test_an_edit_that_crashes_is_no_fix(program: Program, pool: ProcessPool) -> None:
    found = judged(program, pool, CRASHES)
    assert found.fix is None
    (dropped,) = found.dropped_fixes
    assert "AttributeError" in dropped.reason
    assert "line 11" in dropped.reason


def test_the_first_edit_that_silences_the_detector_is_the_fix(
    program: Program, pool: ProcessPool
) -> None:
    found = judged(program, pool, CRASHES, DOES_NOTHING, MENDS)
    assert found.fix is not None
    assert found.fix.patch == MENDS
    assert found.fix.tried is FixTried.SILENT
    assert "12 steps" in found.fix.reason
    assert [one.reason for one in found.dropped_fixes][1:] == ["RE010 still fires"]


def test_an_edit_that_takes_fewer_steps_is_no_fix(program: Program, pool: ProcessPool) -> None:
    found = judged(program, pool, FEWER)
    assert found.fix is None
    assert [one.reason for one in found.dropped_fixes] == ["it takes 9 steps in place of 12"]


def test_where_the_program_takes_no_step_nothing_was_tried(
    pool: ProcessPool, tmp_path: Path
) -> None:
    idle = tmp_path / "idle"
    idle.mkdir()
    (idle / "train.py").write_text(SCALED.replace("range(12)", "range(0)"))
    found = judged(read_program(("train.py",), idle), pool, MENDS)
    assert found.fix is not None
    assert (found.fix.tried, found.fix.reason) == (
        FixTried.NOT_TRIED,
        "the program takes no step",
    )


def test_what_did_not_end_in_time_is_called_not_tried(program: Program, pool: ProcessPool) -> None:
    found = judged(program, pool, MENDS, length=Length(0.001))
    assert found.fix is not None
    assert (found.fix.tried, found.fix.reason) == (FixTried.NOT_TRIED, "no time was left")


def test_silence_where_the_detector_does_not_fire_before_shows_nothing(
    program: Program, pool: ProcessPool, tmp_path: Path
) -> None:
    sound = tmp_path / "sound"
    sound.mkdir()
    (sound / "train.py").write_text(MENDS.apply(program).files[0].text)
    fixed = read_program(("train.py",), sound)
    check = TextCheck(fixed, judging(OPTIONS))
    scratch = Scratch(read_only(fixed), pool, partial(spoken_by, OPTIONS), Length(600.0), Stop())
    (one,) = try_edits([(not_cleared(program, DOES_NOTHING), [DOES_NOTHING])], check, scratch)
    assert one.fix is not None
    assert one.fix.tried is FixTried.NOT_TRIED
    assert "in which RE010 does not fire without it" in one.fix.reason


def test_at_most_three_findings_have_edits_that_are_tried(program: Program) -> None:
    check = TextCheck(program, judging(OPTIONS))
    one = not_cleared(program, MENDS, MENDS)
    assert len(worth_trying([one] * 5, check)) == 3


def test_an_edit_of_a_model_is_not_run_here(program: Program) -> None:
    def by_model(change: Change) -> Change:
        assert isinstance(change, Rewrite)
        return replace(change, by_template=False)

    foreign = Patch(tuple(map(by_model, MENDS.changes)))
    check = TextCheck(program, judging(OPTIONS))
    assert worth_trying([not_cleared(program, foreign)], check) == []


def test_a_long_training_is_run_for_a_part_of_its_steps() -> None:
    seen = trace([1.0] * 1000)
    long = replace(Evidence(), trace=replace(seen, seconds=800.0))
    length = length_for(long, contention=2.0)
    assert length.steps == 30
    assert length.seconds == pytest.approx(2 * 3 * 24.0)
    assert length_for(replace(long, trace=replace(seen, seconds=1.0)), 1.0).steps is None
