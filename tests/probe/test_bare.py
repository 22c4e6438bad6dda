"""The preset `bare`: a row a step, metrics, graph and data, and no statistics of layers or
weights.
"""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest

from reenact.probe.options import WatchOptions
from reenact.probe.trace import Trace

pytestmark = pytest.mark.frameworks

CORPUS = Path(__file__).parents[1] / "corpus"
PROGRAMS = {
    "keras_functional": "two_inputs.py",
    "keras_train_on_batch": "train.py",
    "lightning_module": "train.py",
    "torch_class_trainer": "experiment.py",
    "torch_lbfgs": "fit.py",
    "torch_lr_ten": "train.py",
}
COLUMNS = (
    "loss",
    "learning_rate",
    "batch_size",
    "epoch",
    "carried",
    "backward_calls",
    "training",
)

SMALL = """
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
x, y = torch.randn(64, 4), torch.randint(2, (64,))
model = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 2))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for epoch in range(9):
    for xb, yb in DataLoader(TensorDataset(x, y), batch_size=8):
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(xb), yb)
        loss.backward()
        optimizer.step()
"""


def watched(forks: Any, folder: Path, script: str, preset: str, into: Path) -> Trace:
    work = into / preset
    shutil.copytree(folder, work)
    ran = forks.run(work / script, cwd=work, options=WatchOptions(Path(), preset=preset))
    assert ran.code == 0, ran.err
    return ran.trace


@pytest.mark.parametrize("name", PROGRAMS)
def test_bare_says_of_the_model_and_the_steps_what_quick_says(
    name: str, forks: Any, tmp_path: Path
) -> None:
    bare, quick = (
        watched(forks, CORPUS / name, PROGRAMS[name], preset, tmp_path)
        for preset in ("bare", "quick")
    )
    assert (
        len(bare.steps.where(sampled=1)["step"]),
        len(bare.layers),
        len(bare.parameters),
    ) == (0, 0, 0)
    assert bare.graph is not None
    assert quick.graph is not None
    assert [(layer.name, layer.type, layer.place) for layer in bare.graph.layers] == [
        (layer.name, layer.type, layer.place) for layer in quick.graph.layers
    ]
    assert (bare.graph.loss, bare.graph.optimizer) == (
        quick.graph.loss,
        quick.graph.optimizer,
    )
    assert (bare.graph.task, bare.graph.batch_size) == (
        quick.graph.task,
        quick.graph.batch_size,
    )
    assert {(facts.split, facts.role) for facts in bare.data} == {
        (f.split, f.role) for f in quick.data
    }
    assert (bare.epoch_count, bare.metric_names()) == (
        quick.epoch_count,
        quick.metric_names(),
    )
    for column in COLUMNS[: 2 if name.startswith("keras") else None]:
        seen = quick.steps.series(column).known
        assert (
            dict(zip(seen.steps, seen.values, strict=True)).items()
            <= dict(zip(bare.steps["step"], bare.steps[column], strict=True)).items()
        ), column


def test_ends_of_epochs_have_layer_rows(forks: Any) -> None:
    trace = forks.run(SMALL).trace
    seen = {int(step) for step in trace.layers.where(phase=0)["step"]}
    # The price is wall time: on a busy machine the ends of epochs may lose their look, the first
    # steps never.
    ends = range(7, 72, 8) if trace.probe_seconds < 0.5 else ()
    assert {*range(20), *ends} <= seen
    assert {int(step) for step in trace.steps.where(sampled=1)["step"]} == seen


def test_a_tiny_program_has_layer_rows_in_every_sampled_step_or_says_why_not(
    forks: Any,
) -> None:
    trace = forks.run(SMALL, options=WatchOptions(Path(), preset="normal")).trace
    sampled = {int(step) for step in trace.steps.where(sampled=1)["step"]}
    assert len(sampled) > 50
    lost = sampled - {int(step) for step in trace.layers["step"]}
    assert bool(lost) == any(sentence.startswith("layer outputs") for sentence in trace.missing)
    assert not lost or trace.probe_seconds > 1.5
