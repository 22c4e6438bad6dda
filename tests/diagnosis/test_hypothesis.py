"""The effect of an edit against what was expected, and what must be as it was."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from reenact.claims.check import Check
from reenact.claims.claim import About, Claim, Expected
from reenact.claims.verdict import (
    ClaimStatus,
    ClaimVerdict,
    Gate,
    GateName,
    MetricEffect,
    Moved,
)
from reenact.diagnosis import hypothesis
from reenact.diagnosis.hypothesis import JudgedRows, WatchedTraining, data_of
from reenact.probe.opened import Opened, OpenedFile
from reenact.probe.outcome import OutcomeKind
from reenact.program.patch import Patch
from reenact.program.program import read_program
from reenact.trials.metric import Measure
from reenact.trials.trial import Outcome

LOSS = Measure("val_loss", larger_is_better=False, is_loss=True)
SCORE = Measure("accuracy")


def claim_about(about: About) -> Claim:
    return Claim("it holds", Patch(), "", Check.read("above 1"), about)


def run_with(
    steps: int = 5, rows: Sequence[tuple[int, str]] = (), first: float = 1.0
) -> WatchedTraining:
    curves = {"step_loss": ((1, first), (steps, 0.5))}
    outcome = Outcome(OutcomeKind.FINISHED, steps=steps, curves=curves)
    return WatchedTraining(outcome, tuple(JudgedRows(*one) for one in rows))


@pytest.mark.parametrize(
    ("expected", "better", "worse", "moved"),
    [
        (Expected.BETTER, True, False, Moved.AS_EXPECTED),
        (Expected.BETTER, False, True, Moved.AGAINST),
        (Expected.BETTER, False, False, Moved.NOT),
        (Expected.LOWER, False, True, Moved.AS_EXPECTED),
        (Expected.LOWER, True, False, Moved.AGAINST),
        (Expected.OTHER, True, False, Moved.AS_EXPECTED),
        (Expected.OTHER, False, True, Moved.AS_EXPECTED),
        (Expected.SAME, False, False, Moved.NOT),
        (Expected.SAME, True, False, Moved.AGAINST),
    ],
)
def test_what_was_expected(expected: Expected, better: bool, worse: bool, moved: Moved) -> None:
    assert hypothesis.moved_as(expected, better=better, worse=worse) is moved


def test_a_claim_about_training_leaves_what_judges_alone() -> None:
    training = claim_about(About.TRAINING)
    same = run_with(rows=[(10, "a")])
    assert hypothesis.frozen(same, same, training).passed is True
    assert hypothesis.frozen(same, run_with(rows=[(8, "a")]), training).passed is False
    assert hypothesis.frozen(same, run_with(steps=6, rows=[(10, "a")]), training).passed is False
    assert hypothesis.frozen(same, run_with(rows=[(10, "b")]), training).passed is None
    other = run_with(rows=[(8, "a")])
    assert hypothesis.frozen(same, other, claim_about(About.LEAK)).passed is None


def test_a_program_that_trains_nothing_is_not_asked_to_train() -> None:
    training = claim_about(About.TRAINING)
    nothing = run_with(steps=0)
    assert hypothesis.frozen(nothing, nothing, training).passed is True
    gate = hypothesis.frozen(run_with(), nothing, training)
    assert gate.passed is False
    assert "does not train to its end" in gate.saw


def test_losses_of_two_formulas_are_not_compared() -> None:
    one, other = run_with().outcome, run_with(first=30.0).outcome
    assert "changes what it is" in hypothesis.other_loss(LOSS, one, other)
    assert hypothesis.other_loss(LOSS, one, run_with(first=1.02).outcome) == ""
    assert hypothesis.other_loss(SCORE, one, other) == ""


def test_only_data_are_shown_to_a_box(tmp_path: Path) -> None:
    folder, beside = tmp_path / "program", tmp_path / "data"
    for one in (folder, beside, beside / ".secrets", beside / ".cache"):
        one.mkdir()
    (folder / "train.py").write_text("x = 1\n")
    names = ["rows.csv", ".secrets/key", ".cache/rows.bin"]
    for name in names:
        (beside / name).write_text("1")
    (folder / "images.bin").write_text("1")
    program = read_program(["train.py"], folder)
    paths = [*(beside / name for name in names), folder / "train.py", beside / "gone.csv"]
    files = [OpenedFile(str(one), 1, 0, "") for one in paths]
    # As large as this it is a link in the copy of the folder, and a link leads nowhere in a box.
    files.append(OpenedFile(str(folder / "images.bin"), 17 * 2**20, 0, ""))
    opened = Opened(tuple(files), ())
    shown = {mount.source.name for mount in data_of(opened, program, system=())}
    assert shown == {"rows.csv", "rows.bin", "images.bin"}


def passed(*names: GateName) -> tuple[Gate, ...]:
    return tuple(Gate(name, True, "seen") for name in names)


EXECUTED = (GateName.SCRIPT, GateName.RESTATED, GateName.RED, GateName.GREEN)
ALL = (*EXECUTED, GateName.SECOND, GateName.REFUTERS)


@pytest.mark.parametrize(
    ("gates", "effect", "status"),
    [
        (passed(*ALL), Moved.AS_EXPECTED, ClaimStatus.PROVEN),
        (passed(*ALL), None, ClaimStatus.LIKELY),
        (passed(*ALL), Moved.UNMEASURED, ClaimStatus.LIKELY),
        (passed(*ALL), Moved.NOT, ClaimStatus.REMARK),
        (passed(*ALL), Moved.AGAINST, ClaimStatus.REFUTED),
        (passed(*EXECUTED), Moved.AS_EXPECTED, ClaimStatus.REMARK),
        (passed(*EXECUTED, GateName.SECOND), Moved.AS_EXPECTED, ClaimStatus.LIKELY),
        (passed(*EXECUTED, GateName.REFUTERS), Moved.AS_EXPECTED, ClaimStatus.REMARK),
        (passed(*EXECUTED), None, ClaimStatus.REMARK),
        (passed(GateName.SCRIPT), None, ClaimStatus.NOT_TESTED),
        (
            (*passed(*EXECUTED), Gate(GateName.MUTANTS, False)),
            Moved.AS_EXPECTED,
            ClaimStatus.NOT_TESTED,
        ),
        (
            (*passed(*EXECUTED), Gate(GateName.PERSISTS, False)),
            Moved.AS_EXPECTED,
            ClaimStatus.REFUTED,
        ),
        ((*passed(*ALL), Gate(GateName.FROZEN, False)), Moved.AS_EXPECTED, ClaimStatus.NOT_TESTED),
    ],
)
def test_status(gates: tuple[Gate, ...], effect: Moved | None, status: ClaimStatus) -> None:
    measured = MetricEffect(effect, "accuracy") if effect is not None else None
    found = ClaimVerdict(claim_about(About.TRAINING), gates, effect=measured)
    assert found.status is status
    assert found.reason.endswith(".")
    assert found.exit_code == {
        ClaimStatus.PROVEN: 1,
        ClaimStatus.LIKELY: 1,
        ClaimStatus.NOT_TESTED: 3,
    }.get(status, 0)
