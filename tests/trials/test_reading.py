"""What is read off a trial: curves thinned, a loss that is no number any more, last words of a
failure.
"""

from __future__ import annotations

import math
from pathlib import Path

import pytest

from contracts.executor import HEALTHY, NET, program_in
from reenact.errors import InputError
from reenact.probe.outcome import OutcomeKind
from reenact.program.graph import TaskType
from reenact.trials.metric import SEEN_ACCURACY, choose_measure
from reenact.trials.pool import ProcessPool
from reenact.trials.reading import MOST_POINTS, read_kept
from reenact.trials.trial import Outcome, Trial

LONG = (
    NET
    + """\
for step in range(450):
    optimizer.zero_grad()
    loss = nn.functional.cross_entropy(model(x), y) * (float("nan") if step >= 400 else 1)
    loss.backward()
    optimizer.step()
"""
)


def test_long_curves_are_thinned_and_a_lost_loss_is_no_number(
    pool: ProcessPool, tmp_path: Path
) -> None:
    (outcome,) = pool.run([Trial(program_in(tmp_path / "p", LONG))])
    assert outcome.steps == 450
    points = outcome.curve("step_loss")
    assert MOST_POINTS / 2 <= len(points) <= MOST_POINTS
    assert points[-1][0] == 449
    assert math.isnan(outcome.metrics["step_loss"])
    measure = choose_measure(outcome)
    assert (measure.name, measure.is_loss) == ("step_loss", True)
    assert measure.read(outcome) is None


QUIET = (
    NET
    + """\
from torch.utils.data import DataLoader, TensorDataset

loss_fn = nn.CrossEntropyLoss()
for epoch in range(2):
    model.train()
    optimizer.zero_grad()
    loss_fn(model(x), y).backward()
    optimizer.step()
    model.eval()
    with torch.no_grad():
        for xb, yb in DataLoader(TensorDataset(x, y), batch_size=16):
            loss_fn(model(xb), yb)
"""
)


def test_an_evaluation_that_prints_nothing_is_the_mean_of_its_batches(
    pool: ProcessPool, tmp_path: Path
) -> None:
    (outcome,) = pool.run([Trial(program_in(tmp_path / "p", QUIET))])
    last = [value for step, value in outcome.curve("val_loss") if step == 2]
    assert len(set(last)) > 1, outcome
    assert outcome.metrics["val_loss"] == pytest.approx(sum(last) / len(last))
    assert outcome.sources["val_loss"] == "probe"


def test_the_last_words_of_a_program_that_ends_itself(pool: ProcessPool, tmp_path: Path) -> None:
    program = program_in(tmp_path / "p", f"{HEALTHY}raise SystemExit('the data is too small')\n")
    (outcome,) = pool.run([Trial(program)])
    assert outcome.kind is OutcomeKind.EXITED
    assert outcome.note.endswith("the data is too small")
    assert outcome.steps > 0, "what it trained before is counted"


def test_a_trace_that_was_not_kept_cannot_be_read(tmp_path: Path) -> None:
    trial = Trial(program_in(tmp_path / "p", HEALTHY))
    with pytest.raises(InputError, match="kept no trace"):
        read_kept(trial, Outcome(OutcomeKind.FINISHED, 1))


SILENT = """import torch
from torch import nn
from reenact.testing.toys import blobs

x, y = map(torch.from_numpy, blobs(240, spread=2.0))
model = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 3))
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
for epoch in range(12):
    for start in range(0, 240, 24):
        optimizer.zero_grad()
        nn.functional.cross_entropy(model(x[start : start + 24]), y[start : start + 24]).backward()
        optimizer.step()
"""


@pytest.mark.parametrize(("preset", "known"), [("quick", True), ("bare", False)])
def test_a_training_that_logs_nothing_is_judged_by_what_was_seen_of_its_batches(
    pool: ProcessPool, tmp_path: Path, preset: str, known: bool
) -> None:
    program = program_in(tmp_path / "p", SILENT)
    (outcome,) = pool.run([Trial(program, seed=1, preset=preset)])
    assert (SEEN_ACCURACY in outcome.metrics) is known
    measure = choose_measure(outcome, TaskType.MULTI_CLASS)
    assert measure.is_of_batches is known
    if known:
        assert outcome.metrics[SEEN_ACCURACY] > 0.5
