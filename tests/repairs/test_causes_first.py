"""Proven faults come first: their fixes are verified, kept, withdrawn, or still wanted at the end."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from reenact.diagnosis.diagnosis import Diagnosis
from reenact.diagnosis.options import Depth, DiagnoseOptions
from reenact.diagnosis.pipeline import diagnose
from reenact.diagnosis.services import DiagnoseServices
from reenact.journal import Journal
from reenact.probe.outcome import OutcomeKind
from reenact.program.hyperparameter import Kind
from reenact.program.program import read_program
from reenact.program.static_graph import hyperparameters_of
from reenact.repairs.causes import causes_of
from reenact.repairs.options import RepairOptions
from reenact.repairs.pipeline import repair
from reenact.repairs.prepare import RepairServices
from reenact.repairs.verdict import Decision, Repair
from reenact.trials.executor import ScriptedExecutor
from reenact.trials.trial import Outcome, Trial
from reenact.types import ExitCode

pytestmark = pytest.mark.usefixtures("warm_python")

NOT_CLEARED = """import torch
from torch import nn
from reenact.testing.toys import blobs

x, y = map(torch.from_numpy, blobs(320, spread=2.0))
model = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 3))
optimizer = torch.optim.SGD(model.parameters(), lr=0.3)
for epoch in range(10):
    for start in range(0, 256, 32):
        rows, classes = x[start : start + 32], y[start : start + 32]
        nn.functional.cross_entropy(model(rows), classes).backward()
        optimizer.step()
with torch.no_grad():
    print("test accuracy:", (model(x[256:]).argmax(1) == y[256:]).float().mean().item())
"""
JUDGED_WITH_DROPOUT = """import torch
from torch import nn
from reenact.testing.toys import blobs

x, y = map(torch.from_numpy, blobs(320, spread=2.0))
model = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Dropout(0.6), nn.Linear(16, 3))
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
for epoch in range(12):
    for start in range(0, 256, 32):
        rows, classes = x[start : start + 32], y[start : start + 32]
        optimizer.zero_grad()
        nn.functional.cross_entropy(model(rows), classes).backward()
        optimizer.step()
    with torch.no_grad():
        print("val_accuracy", (model(x[256:]).argmax(1) == y[256:]).float().mean().item())
"""


def diagnosed(folder: Path, text: str) -> Diagnosis:
    work = folder / "work"
    work.mkdir()
    (work / "train.py").write_text(text)
    with Journal.in_memory() as journal, (folder / "output").open("wb") as output:
        services = DiagnoseServices(journal=journal, traces=folder / "traces", stdout=output)
        program = read_program(("train.py",), work)
        return diagnose(program, DiagnoseOptions(depth=Depth.QUICK), services)


@pytest.fixture(scope="module")
def not_cleared(tmp_path_factory: pytest.TempPathFactory) -> Diagnosis:
    return diagnosed(tmp_path_factory.mktemp("not-cleared"), NOT_CLEARED)


@pytest.fixture(scope="module")
def judged_with_dropout(tmp_path_factory: pytest.TempPathFactory) -> Diagnosis:
    return diagnosed(tmp_path_factory.mktemp("with-dropout"), JUDGED_WITH_DROPOUT)


def without_fix(known: Diagnosis) -> Diagnosis:
    """The same diagnosis, had its detectors nothing to suggest."""

    def bare(finding):  # type: ignore[no-untyped-def]
        seen = tuple(replace(one, suggestions=(), candidates=()) for one in finding.observations)
        return replace(finding, observations=seen, fix=None)

    return replace(
        known,
        findings=tuple(map(bare, known.findings)),
        low_confidence=tuple(map(bare, known.low_confidence)),
    )


def repaired(
    known: Diagnosis,
    tmp_path: Path,
    accuracy: Callable[[str, int], float],
    name: str = "test_accuracy",
    **options: object,
) -> tuple[Repair, ScriptedExecutor]:
    """A repair whose trainings reach what a formula says of the patched text and its epochs."""

    def play(trial: Trial) -> Outcome:
        program = trial.patched
        epochs = [one.in_force for one in hyperparameters_of(program) if one.kind is Kind.EPOCHS]
        assert isinstance(epochs[0], int)
        reached = accuracy(program.script(), epochs[0]) + trial.seed % 5 * 1e-3
        return Outcome(
            OutcomeKind.FINISHED,
            steps=9,
            metrics={name: reached},
            sources={name: "output"},
            cpu_seconds=2.0 * epochs[0] / 10,
            seconds=0.1,
        )

    program = known.evidence.program
    assert program is not None
    executor = ScriptedExecutor(play)
    with Journal.in_memory() as journal, (tmp_path / "output").open("wb") as output:
        services = RepairServices(
            journal=journal,
            traces=tmp_path / "traces",
            stdout=output,
            executor=lambda: executor,
        )
        given = RepairOptions(**options)  # type: ignore[arg-type]
        return repair(program, given, services, known), executor


def cleared_or_longer(text: str, epochs: int) -> float:
    if "zero_grad()" in text:
        return 0.97
    return 0.7 if epochs > 10 else 0.3


def test_proven_faults_and_likely_ones_of_correctness_are_causes(
    not_cleared: Diagnosis, judged_with_dropout: Diagnosis
) -> None:
    names = []
    for known in (not_cleared, judged_with_dropout):
        program = known.evidence.program
        assert program is not None
        (cause,) = causes_of(known, program)
        assert cause.mechanical
        names.append((cause.finding.fault_name, cause.is_proven, cause.is_of_correctness))
    assert names == [
        ("missing-zero-grad", True, False),
        ("evaluated-in-training-mode", False, True),
    ]


def test_gradients_are_cleared_and_nothing_is_trained_longer(
    tmp_path: Path, not_cleared: Diagnosis
) -> None:
    found, executor = repaired(not_cleared, tmp_path, cleared_or_longer)
    assert found.decision is Decision.REPAIRED
    assert "+        optimizer.zero_grad()" in found.diff
    assert found.patch.complexity == 1
    assert [one.name for one in found.fixed_faults] == ["gradients-not-cleared"]
    assert found.cost.verifying == 12
    seeds = [trial.seed for trial in executor.ran if trial.seed > 1000]
    assert len(seeds) == 12


def test_longer_training_is_no_repair_while_gradients_are_not_cleared(
    tmp_path: Path, not_cleared: Diagnosis
) -> None:
    found, _ = repaired(without_fix(not_cleared), tmp_path, cleared_or_longer)
    assert found.decision is Decision.FAULT_REMAINS
    assert found.exit_code is ExitCode.FOUND
    assert not found.decision.helps
    assert "range(20)" in found.diff
    assert "not repaired" in found.sentence
    assert "gradients-not-cleared at line 11 of train.py is still there" in found.sentence
    assert "Repaired" not in found.sentence


def test_a_finding_is_withdrawn_where_its_fix_makes_the_metric_worse(
    tmp_path: Path, not_cleared: Diagnosis
) -> None:
    def worse(text: str, epochs: int) -> float:
        return 0.2 if "zero_grad()" in text else 0.8

    found, _ = repaired(not_cleared, tmp_path, worse)
    assert [one.name for one in found.withdrawn] == ["gradients-not-cleared"]
    assert not found.remaining_faults
    assert not found.decision.helps
    assert "Withdrawn: RE010 gradients-not-cleared" in found.sentence


def test_a_fix_is_kept_where_the_metric_tells_no_difference(
    tmp_path: Path, not_cleared: Diagnosis
) -> None:
    found, _ = repaired(not_cleared, tmp_path, lambda text, epochs: 0.8)
    assert found.decision is Decision.FIXED
    assert found.exit_code is ExitCode.OK
    assert "zero_grad()" in found.diff
    assert found.sentence.startswith("Fixed by 1 change: RE010 gradients-not-cleared at line 11")


def test_a_wrong_evaluation_is_repaired_although_the_number_gets_worse(
    tmp_path: Path, judged_with_dropout: Diagnosis
) -> None:
    def lower(text: str, epochs: int) -> float:
        return 0.6 if "model.eval()" in text else 0.9

    found, _ = repaired(judged_with_dropout, tmp_path, lower, "val_accuracy")
    assert found.decision is Decision.REPAIRED
    assert "+    model.eval()" in found.diff
    assert not found.withdrawn
    assert "the number before was not what it seemed" in found.sentence


PER_BATCH = """import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

rows = torch.Generator().manual_seed(0)
x = torch.randn(320, 8, generator=rows)
y = (x[:, 0] > 0).long()
train = DataLoader(TensorDataset(x[:256], y[:256]), batch_size=16, shuffle=True)
model = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 2))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
schedule = torch.optim.lr_scheduler.StepLR(optimizer, step_size=4, gamma=0.1)
for epoch in range(12):
    for rows, labels in train:
        optimizer.zero_grad()
        nn.functional.cross_entropy(model(rows), labels).backward()
        optimizer.step()
        schedule.step()
    with torch.no_grad():
        print("val_accuracy", (model(x[256:]).argmax(1) == y[256:]).float().mean().item())
"""


def test_a_schedule_is_moved_and_no_learning_rate_changed(tmp_path: Path) -> None:
    known = diagnosed(tmp_path, PER_BATCH)

    def per_epoch(text: str, epochs: int) -> float:
        inside = "        schedule.step()" in text
        return 0.5 if inside and "lr=0.1)" in text else 0.8 if inside else 0.97

    found, _ = repaired(known, tmp_path, per_epoch, "val_accuracy")
    assert found.decision is Decision.REPAIRED
    assert "-        schedule.step()" in found.diff
    assert "lr=" not in "".join(
        line for line in found.diff.splitlines() if line.startswith(("+", "-"))
    )
