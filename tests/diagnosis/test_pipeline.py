"""The whole pipeline: reading only, one real watched run, interventions, continuing after an
interruption.
"""

from __future__ import annotations

import hashlib
import json
import math
from dataclasses import replace
from pathlib import Path, PurePosixPath

import pytest

from made_evidence import LABELS, ONE_HOT, QUANTITIES, graph, trace
from reenact.diagnosis.diagnosis import Diagnosis, InterventionResult
from reenact.diagnosis.options import Depth, DiagnoseOptions
from reenact.diagnosis.pipeline import diagnose
from reenact.diagnosis.services import (
    DiagnoseServices,
    constant_loss,
    has_several_labels,
)
from reenact.errors import InputError, Stopped
from reenact.faults.evidence import Evidence
from reenact.faults.fault_type import FaultType
from reenact.journal import Journal
from reenact.probe.answers import Answers
from reenact.probe.outcome import OutcomeKind
from reenact.program.graph import TaskType, TensorFacts
from reenact.program.hyperparameter import Kind
from reenact.program.program import Program, read_program
from reenact.trials.executor import ScriptedExecutor
from reenact.trials.trial import Outcome, Trial
from reenact.types import Stop

pytestmark = pytest.mark.usefixtures("warm_python")

BROKEN = """import torch
from torch import nn
from reenact.testing.toys import blobs

x, y = map(torch.from_numpy, blobs(320, spread=2.0))
model = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 3))
optimizer = torch.optim.Adam(model.parameters(), lr=5.0)
for epoch in range(12):
    for start in range(0, 256, 32):
        rows, classes = x[start : start + 32], y[start : start + 32]
        optimizer.zero_grad()
        nn.functional.cross_entropy(model(rows), classes).backward()
        optimizer.step()
with torch.no_grad():
    print("test accuracy:", (model(x[256:]).argmax(1) == y[256:]).float().mean().item())
"""


@pytest.fixture
def program(tmp_path: Path) -> Program:
    folder = tmp_path / "work"
    folder.mkdir()
    (folder / "train.py").write_text(BROKEN)
    return read_program(("train.py",), folder)


def hashes(folder: Path) -> dict[str, str]:
    return {
        str(path): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in folder.rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }


def trained(trial: Trial) -> Outcome:
    """The learning rate decides, and nothing else."""
    rates = [
        change.value
        for change in trial.patch.changes
        if change.hyperparameter.kind is Kind.LEARNING_RATE
    ]
    good = bool(rates) and 1e-4 < rates[0] < 0.1
    value = (0.9 if good else 0.4) + (trial.seed % 7) / 1000
    return Outcome(
        OutcomeKind.FINISHED,
        steps=96,
        metrics={"test_accuracy": value},
        sources={"test_accuracy": "output"},
        cpu_seconds=0.5,
    )


def tell(
    program: Program,
    journal: Journal,
    executor: ScriptedExecutor | None = None,
    **options,
) -> Diagnosis:
    services = DiagnoseServices(
        journal=journal,
        traces=program.folder.parent / "traces",
        stdout=2,
        executor=(lambda: executor) if executor is not None else None,
    )
    return diagnose(program, DiagnoseOptions(**options), services)


def test_static_runs_nothing(program: Program) -> None:
    before = hashes(program.folder)
    with Journal.in_memory() as journal:
        found = tell(program, journal, depth=Depth.STATIC)
    assert found.evidence.trace is None
    assert [one.fault for one in found.findings] == [FaultType.HLR]
    assert found.findings[0].place is not None
    assert found.findings[0].place.line == 7
    assert hashes(program.folder) == before
    assert not (program.folder.parent / "traces").exists()


def test_quick_watches_one_run_and_normal_confirms_by_training(
    program: Program, tmp_path: Path
) -> None:
    before = hashes(program.folder)
    executor = ScriptedExecutor(trained)
    with Journal.open(tmp_path / "runs") as journal:
        found = tell(program, journal, executor, depth=Depth.NORMAL)
        assert found.evidence.experiments.one_batch is not None
        (one,) = [one for one in found.findings if one.fault is FaultType.HLR]
        assert one.status is InterventionResult.CONFIRMED
        assert one.tried is not None
        assert one.tried.p_value < 0.05
        assert found.measure is not None
        assert found.measure.name == "test_accuracy"
    assert hashes(program.folder) == before


@pytest.mark.release
def test_what_is_seen_in_a_notebook_is_placed_in_it(program: Program) -> None:
    cells = [{"cell_type": "code", "metadata": {}, "outputs": [], "source": BROKEN}]
    book = {"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}
    (program.folder / "study.ipynb").write_text(json.dumps(book))
    with Journal.in_memory() as journal:
        found = tell(read_program(("study.ipynb",), program.folder), journal, depth=Depth.QUICK)
    assert found.evidence.trace is not None
    places = {one.place.file for one in found.evidence.trace.events if one.place is not None}
    assert places == {PurePosixPath("study.ipynb")}


@pytest.mark.release
@pytest.mark.usefixtures("cold_python")
def test_an_interrupted_diagnosis_continues_without_training_twice(
    program: Program, tmp_path: Path
) -> None:
    stop = Stop()
    done: list[str] = []

    def interrupted(trial: Trial) -> Outcome:
        done.append(trial.key)
        if len(done) == 9:
            stop.ask()
        return trained(trial)

    options = DiagnoseOptions(depth=Depth.NORMAL)
    with Journal.open(tmp_path / "runs") as journal:
        services = DiagnoseServices(
            journal,
            tmp_path / "traces",
            stop=stop,
            stdout=2,
            executor=lambda: ScriptedExecutor(interrupted),
        )
        with pytest.raises(Stopped):
            diagnose(program, options, services)
    first = list(done)
    with Journal.open(tmp_path / "runs") as journal:
        again = DiagnoseServices(
            journal,
            tmp_path / "traces",
            stdout=2,
            executor=lambda: ScriptedExecutor(interrupted),
        )
        found = diagnose(program, options, again)
    assert any(one.status is InterventionResult.CONFIRMED for one in found.findings)
    assert len(list((tmp_path / "traces").iterdir())) == 1
    journalled = set(first) & set(done[len(first) :])
    assert len(journalled) < len(first)


@pytest.mark.release
@pytest.mark.usefixtures("cold_python")
def test_a_trace_that_was_changed_since_is_watched_again(program: Program, tmp_path: Path) -> None:
    def diagnosed() -> Diagnosis:
        with Journal.open(tmp_path / "runs") as journal:
            services = DiagnoseServices(journal, tmp_path / "traces", stdout=2, executor=stopping)
            return diagnose(program, DiagnoseOptions(depth=Depth.NORMAL), services)

    def stopping() -> ScriptedExecutor:
        return ScriptedExecutor(stopped)

    def stopped(_: Trial) -> Outcome:
        raise Stopped("Stopped after the watched run.")

    with pytest.raises(Stopped):
        diagnosed()
    (trace,) = (tmp_path / "traces").iterdir()
    with pytest.raises(Stopped):
        diagnosed()
    assert [trace] == list((tmp_path / "traces").iterdir())
    header = trace / "header.json"
    header.write_text(header.read_text().replace("torch", "porch"))
    with pytest.raises(Stopped):
        diagnosed()
    assert len(list((tmp_path / "traces").iterdir())) == 2


@pytest.mark.release
@pytest.mark.usefixtures("cold_python")
def test_a_program_that_was_answered_by_hand_is_watched_again(
    program: Program, tmp_path: Path
) -> None:
    def stopped_with(answers: Answers) -> int:
        def stopped(_: Trial) -> Outcome:
            raise Stopped("Stopped after the watched run.")

        with Journal.open(tmp_path / "runs") as journal:
            services = DiagnoseServices(
                journal,
                tmp_path / "traces",
                stdout=2,
                executor=lambda: ScriptedExecutor(stopped),
                answers=answers,
            )
            with pytest.raises(Stopped):
                diagnose(program, DiagnoseOptions(depth=Depth.NORMAL), services)
        return len(list((tmp_path / "traces").iterdir()))

    typed = Answers()
    typed.note_keys(b"3\r")
    assert stopped_with(typed) == 1
    # The answers are not kept: its trainings would end without them.
    assert stopped_with(Answers()) == 2
    assert stopped_with(Answers()) == 2


@pytest.mark.release
def test_a_metric_that_is_not_there_is_refused(program: Program) -> None:
    with (
        Journal.in_memory() as journal,
        pytest.raises(InputError, match="no metric of this name"),
    ):
        tell(
            program,
            journal,
            ScriptedExecutor(trained),
            depth=Depth.NORMAL,
            metric="bleu",
        )


@pytest.mark.release
def test_two_programs_in_one_journal_are_each_watched(program: Program, tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    (other / "train.py").write_text(
        BROKEN.replace("lr=5.0", "lr=0.01").replace("range(12)", "range(3)")
    )
    with Journal.in_memory() as journal:
        first = tell(program, journal, depth=Depth.QUICK)
        second = tell(read_program(("train.py",), other), journal, depth=Depth.QUICK)
        again = tell(program, journal, depth=Depth.QUICK)
    steps = [
        one.evidence.trace.step_count
        for one in (first, second, again)
        if one.evidence.trace is not None
    ]
    assert steps == [96, 24, 96]
    assert len(list((tmp_path / "traces").iterdir())) == 3


@pytest.mark.parametrize(
    ("labels", "several"),
    [
        (LABELS, False),
        (replace(LABELS, shape=(None, 1)), False),
        (ONE_HOT, False),
        (replace(LABELS, shape=(None, 3)), True),
        (replace(LABELS, shape=(None, 12, 1)), True),
    ],
)
def test_rows_with_several_labels_have_no_most_frequent_class(
    labels: TensorFacts, several: bool
) -> None:
    assert has_several_labels(Evidence(trace=trace([1.0] * 20, data=(labels,)))) is several


def test_where_no_label_was_seen_there_are_not_several() -> None:
    assert not has_several_labels(Evidence())


def test_the_loss_of_a_constant_answer_is_not_known_beside_weight_penalties() -> None:
    model = graph(TaskType.MULTI_CLASS, "cross_entropy", 3)
    plain = Evidence(trace=trace([1.0] * 20, graph=model, data=(LABELS,)))
    assert constant_loss(plain) == pytest.approx(math.log(3))
    (layer,) = model.layers
    penalty = replace(layer, settings={**layer.settings, "kernel_regularizer": "L2(0.01)"})
    none = replace(layer, settings={**layer.settings, "kernel_regularizer": None})
    for changed, known in ((penalty, False), (none, True)):
        run = trace([1.0] * 20, graph=replace(model, layers=(changed,)), data=(LABELS,))
        assert (constant_loss(Evidence(trace=run)) is not None) is known
    squares = graph(TaskType.REGRESSION, "mse", 1)
    run = trace([1.0] * 20, graph=squares, data=(QUANTITIES,))
    assert constant_loss(Evidence(trace=run)) == pytest.approx(0.8**2)
