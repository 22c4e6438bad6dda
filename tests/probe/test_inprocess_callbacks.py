"""Watching from inside: a `with` block, the Keras and the Lightning callback, a metric the program tells."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from reenact.probe.read import is_trace, read_trace

pytestmark = pytest.mark.frameworks

BLOCK = """
import sys
import torch
import reenact

def train(model):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for step in range(6):
        optimizer.zero_grad()
        loss = model(torch.ones(4, 2)).square().mean()
        loss.backward()
        optimizer.step()
        reenact.metric("score", step / 10)

torch.manual_seed(0)
model = torch.nn.Sequential(torch.nn.Linear(2, 3), torch.nn.ReLU(), torch.nn.Linear(3, 1))
reenact.metric("nobody looks", 1.0)
with reenact.watch(model, folder="inner") as watching:
    train(model)
train(model)
print(watching.trace is not None)
"""

CALLBACKS = """
import numpy as np
import torch
import keras
import lightning as L
from reenact.probe.inprocess import KerasCallback, LightningCallback

x, y = np.ones((24, 3), "float32"), np.ones((24, 1), "float32")
model = keras.Sequential([keras.layers.Dense(4, activation="relu"), keras.layers.Dense(1)])
model.compile("sgd", "mse")
model.fit(x, y, batch_size=8, epochs=2, verbose=0, callbacks=[KerasCallback(folder="keras")])

class Net(L.LightningModule):
    def __init__(self):
        super().__init__()
        self.line = torch.nn.Linear(3, 1)

    def training_step(self, batch, index):
        loss = torch.nn.functional.mse_loss(self.line(batch[0]), batch[1])
        self.log("train_loss", loss, on_step=False, on_epoch=True)
        return loss

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=0.01)

data = torch.utils.data.TensorDataset(torch.from_numpy(x), torch.from_numpy(y))
trainer = L.Trainer(max_epochs=2, accelerator="cpu", logger=False, enable_checkpointing=False,
                    enable_progress_bar=False, callbacks=[LightningCallback(folder="lightning")])
trainer.fit(Net(), torch.utils.data.DataLoader(data, batch_size=6))
"""

Run = Callable[..., Any]


@pytest.fixture(scope="module")
def block(tmp_path_factory: pytest.TempPathFactory) -> Path:
    script = tmp_path_factory.mktemp("block") / "train.py"
    script.write_text(BLOCK)
    return script


def test_a_block_is_watched_and_only_the_block(block: Path, run_plain: Run) -> None:
    done = run_plain(block)
    assert (done.returncode, done.stdout) == (0, "True\n"), done.stderr
    trace = read_trace(block.parent / "inner")
    assert trace.step_count == 6
    assert trace.complete
    assert [layer.type for layer in trace.graph.layers] == ["Linear", "ReLU", "Linear"]
    assert [facts.name for facts in trace.parameter_facts] == ["0.weight", "0.bias", "2.weight", "2.bias"]
    assert trace.metric_names() == ("score",)
    assert trace.metric("score").values == pytest.approx([0, 0.1, 0.2, 0.3, 0.4, 0.5])


def test_under_an_outer_watch_the_inner_one_does_nothing(block: Path, watch_text: Run) -> None:
    seen = watch_text(block.read_text().replace('"inner"', repr(str(block.parent / "second"))))
    assert seen.printed == "False\n"
    assert not is_trace(block.parent / "second")
    assert seen.trace.step_count == 12
    assert len(seen.trace.metric("score").values) == 12


def test_the_callbacks_of_keras_and_lightning_leave_a_trace(tmp_path: Path, run_plain: Run) -> None:
    pytest.importorskip("lightning")
    script = tmp_path / "train.py"
    script.write_text(CALLBACKS)
    done = run_plain(script)
    assert done.returncode == 0, done.stderr
    keras, lightning = read_trace(tmp_path / "keras"), read_trace(tmp_path / "lightning")
    assert (keras.step_count, keras.epoch_count, keras.complete) == (6, 2, True)
    assert len(keras.metric("loss").values) == 2
    assert [layer.type for layer in keras.graph.layers] == ["Dense", "Dense"]
    assert (lightning.step_count, lightning.epoch_count, lightning.complete) == (8, 2, True)
    assert [layer.type for layer in lightning.graph.layers] == ["Linear"]
    assert lightning.losses.values[0] > lightning.losses.values[-1]


def test_under_an_outer_watch_the_callbacks_do_nothing(forks: Any) -> None:
    pytest.importorskip("lightning")
    ran = forks.run(CALLBACKS)
    assert ran.code == 0, ran.err
    assert not is_trace(ran.cwd / "keras")
    assert not is_trace(ran.cwd / "lightning")
    assert ran.trace.step_count == 6 + 8
