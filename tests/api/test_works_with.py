"""docs/works-with.md, line by line: a program of each kind with a planted fault, diagnosed as a
user does.

`make test-frameworks` installs what they need. Every line of the page names its test here.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

import reenact
from reenact.diagnosis.diagnosis import Diagnosis
from reenact.probe.trace import Trace
from reenact.report.drawing import mimebundle

ROOT = Path(__file__).parents[2]
Diagnose = Callable[..., Diagnosis]

DATA = """
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset
torch.manual_seed(0)
x = torch.randn(512, 8)
y = x[:, :3].argmax(1)
"""
NET = "net = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 3))\n"
LANGUAGE_MODEL = """
import torch
from transformers import GPT2Config, GPT2LMHeadModel, Trainer, TrainingArguments
torch.manual_seed(0)
starts, steps = torch.randint(30, (96, 1)), torch.randint(1, 4, (96, 1))
texts = (starts + steps * torch.arange(12)) % 30
class Texts(torch.utils.data.Dataset):
    def __init__(self, rows):
        self.rows = rows
    def __len__(self):
        return len(self.rows)
    def __getitem__(self, number):
        row = self.rows[number]
        labels = LABELS
        return {"input_ids": row, "labels": labels}
model = GPT2LMHeadModel(GPT2Config(
    vocab_size=30, n_positions=16, n_embd=32, n_layer=1, n_head=2, bos_token_id=0, eos_token_id=0
))
arguments = TrainingArguments(
    "out", num_train_epochs=3, per_device_train_batch_size=16, learning_rate=3e-3, logging_steps=2,
    eval_strategy="epoch", save_strategy="no", report_to=[], use_cpu=True,
)
Trainer(model, arguments, train_dataset=Texts(texts[:64]), eval_dataset=Texts(texts[64:])).train()
"""
LIGHTNING = (
    DATA
    + """
import lightning as L
class Lit(L.LightningModule):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 3))
    def training_step(self, batch, number):
        rows, labels = batch
        loss = nn.functional.cross_entropy(self.net(rows), labels)
        self.log("train_loss", loss)
        return loss
    def validation_step(self, batch, number):
        rows, labels = batch
        self.log("val_loss", nn.functional.cross_entropy(self.net(rows), labels))
    def configure_optimizers(self):
        return torch.optim.Adam(self.net.parameters(), lr=8.0)
trainer = L.Trainer(
    max_epochs=4, accelerator="cpu", logger=False, enable_checkpointing=False, enable_progress_bar=False
)
trainer.fit(
    Lit(), DataLoader(TensorDataset(x[:384], y[:384]), batch_size=32, shuffle=True),
    DataLoader(TensorDataset(x[384:], y[384:]), batch_size=64),
)
"""
)
ACCELERATE = (
    DATA
    + NET
    + """
from accelerate import Accelerator
accelerator = Accelerator(cpu=True, gradient_accumulation_steps=2)
optimizer = torch.optim.Adam(net.parameters(), lr=8.0)
loader = DataLoader(TensorDataset(x, y), batch_size=32, shuffle=True)
net, optimizer, loader = accelerator.prepare(net, optimizer, loader)
for epoch in range(4):
    for rows, labels in loader:
        with accelerator.accumulate(net):
            loss = nn.functional.cross_entropy(net(rows), labels)
            accelerator.backward(loss)
            optimizer.step()
            optimizer.zero_grad()
"""
)
HYDRA = (
    "import hydra\n"
    + DATA
    + """
@hydra.main(version_base=None, config_path="conf", config_name="main")
def main(cfg):
    net = nn.Sequential(nn.Linear(8, cfg.model.width), nn.ReLU(), nn.Linear(cfg.model.width, 3))
    optimizer = torch.optim.Adam(net.parameters(), lr=cfg.optim.lr)
    for epoch in range(cfg.epochs):
        for rows, labels in DataLoader(TensorDataset(x, y), batch_size=32, shuffle=True):
            optimizer.zero_grad()
            nn.functional.cross_entropy(net(rows), labels).backward()
            optimizer.step()
main()
"""
)
AMP = (
    DATA
    + NET
    + """
optimizer = torch.optim.Adam(net.parameters(), lr=8.0)
scaler = torch.amp.GradScaler("cpu")
for epoch in range(4):
    for rows, labels in DataLoader(TensorDataset(x, y), batch_size=32, shuffle=True):
        optimizer.zero_grad()
        with torch.autocast("cpu", dtype=torch.bfloat16):
            loss = nn.functional.cross_entropy(net(rows), labels)
        scaler.scale(loss).backward()
        scaler.step(optimizer)
        scaler.update()
"""
)
LOOP = """
optimizer = torch.optim.Adam(net.parameters(), lr=8.0)
for epoch in range(4):
    for rows, labels in DataLoader(TensorDataset(x, y), batch_size=32, shuffle=True):
        optimizer.zero_grad()
        nn.functional.cross_entropy(net(rows), labels).backward()
        optimizer.step()
"""
DDP = (
    DATA
    + """
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data.distributed import DistributedSampler
torch.set_num_threads(1)
dist.init_process_group("gloo")
net = DistributedDataParallel(nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 3)))
data = TensorDataset(x, y)
loader = DataLoader(data, batch_size=32, sampler=DistributedSampler(data))
optimizer = torch.optim.Adam(net.parameters(), lr=8.0)
for epoch in range(4):
    loader.sampler.set_epoch(epoch)
    for rows, labels in loader:
        optimizer.zero_grad()
        nn.functional.cross_entropy(net(rows), labels).backward()
        optimizer.step()
dist.destroy_process_group()
"""
)
KERAS = """
import keras, numpy as np
keras.utils.set_random_seed(0)
x = np.random.normal(size=(512, 8)).astype("float32")
y = x[:, :3].argmax(1)
model = keras.Sequential([
    keras.Input((8,)), keras.layers.Dense(16, activation="relu"), keras.layers.Dense(3, activation="softmax")
])
model.compile(keras.optimizers.Adam(8.0), "sparse_categorical_crossentropy", metrics=["accuracy"])
model.fit(x, y, batch_size=32, epochs=4, validation_split=0.25, verbose=0)
"""
KERAS_STEP = """
import keras, numpy as np, torch
keras.utils.set_random_seed(0)
x = np.random.normal(size=(512, 8)).astype("float32")
y = x[:, :3].argmax(1)
class Net(keras.Model):
    def __init__(self):
        super().__init__()
        self.hidden, self.out = keras.layers.Dense(16, activation="relu"), keras.layers.Dense(3)
    def call(self, rows):
        return self.out(self.hidden(rows))
    def train_step(self, batch):
        rows, labels = batch
        scores = self(rows, training=True)
        loss = self.compute_loss(rows, labels, scores)
        loss.backward()
        weights = list(self.trainable_weights)
        with torch.no_grad():
            self.optimizer.apply([weight.value.grad for weight in weights], weights)
        return {"loss": loss}
model = Net()
model.compile(keras.optimizers.Adam(0.01), keras.losses.SparseCategoricalCrossentropy(from_logits=True))
model.fit(x, y, batch_size=32, epochs=4, verbose=0)
"""


KERAS_MIXED = (
    KERAS.replace(
        "model = keras",
        """class Centred(keras.layers.Layer):
    def call(self, rows):
        return rows - keras.ops.mean(rows, axis=0)
model = keras""",
    )
    .replace('relu"), ', 'relu"), Centred(), ')
    .replace("8.0", "0.01")
)


@pytest.fixture
def diagnose(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Diagnose:
    """A program of these files, diagnosed as a user does in its folder."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    monkeypatch.delenv("VIRTUAL_ENV", raising=False)

    def run(text: str, *words: str, **files: str) -> Diagnosis:
        Path("train.py").write_text(text)
        for name, content in files.items():
            Path(name.replace("__", "/")).parent.mkdir(exist_ok=True)
            Path(name.replace("__", "/") + ".yaml").write_text(content)
        return reenact.diagnose(
            words or ("train.py",),
            training=reenact.TrainingOptions(python=sys.executable),
            max_time=400,
        )

    return run


def seen(found: Diagnosis) -> Trace:
    assert found.evidence.trace is not None, found.sentence
    return found.evidence.trace


def first(found: Diagnosis) -> tuple[str, str, int]:
    """Name, file and line of the first finding."""
    assert found.findings, found.sentence
    finding = found.findings[0]
    assert finding.place is not None, finding
    return finding.first.name, finding.place.file.name, finding.place.line


def names(found: Diagnosis) -> set[str]:
    return {witness.name for one in found.findings for witness in one.witnesses}


def line_of(text: str, part: str) -> int:
    return next(number for number, line in enumerate(text.splitlines(), 1) if part in line)


def rate_too_high(found: Diagnosis, text: str, part: str = "8.0") -> None:
    """A learning rate of 8 is named first, at its line."""
    assert found.findings, found.sentence
    assert names(found) & {
        "learning-rate-outside-range",
        "learning-rate-high",
        "update-too-fast",
        "loss-diverges",
    }
    assert first(found)[2] == line_of(text, part)


@pytest.mark.frameworks
def test_trainer(diagnose: Diagnose) -> None:
    text = LANGUAGE_MODEL.replace("LABELS", "torch.cat([row[1:], row[:1]])")
    found = diagnose(text)
    trace = seen(found)
    assert trace.step_count == 12
    assert trace.epoch_count == 3
    assert len(trace.metric("val_loss")) == 3
    assert max(trace.steps["learning_rate"]) == pytest.approx(3e-3)
    assert "transformer.h.0.mlp.c_fc" in trace.layer_names
    assert first(found) == (
        "labels-shifted-twice",
        "train.py",
        line_of(text, "labels ="),
    )


@pytest.mark.frameworks
def test_trainer_that_is_sound(diagnose: Diagnose) -> None:
    found = diagnose(LANGUAGE_MODEL.replace("LABELS", "row"))
    assert [tested.shift for tested in found.evidence.experiments.behaviour] == [
        1,
        1,
    ], "start and end"
    assert found.findings == ()


@pytest.mark.frameworks
def test_lightning(diagnose: Diagnose) -> None:
    found = diagnose(LIGHTNING)
    trace = seen(found)
    assert (trace.step_count, trace.epoch_count) == (48, 4)
    assert len(trace.metric("val_loss", "lightning")) >= 4
    assert trace.missing == ()
    rate_too_high(found, LIGHTNING)


@pytest.mark.frameworks
def test_accelerate(diagnose: Diagnose) -> None:
    found = diagnose(ACCELERATE)
    trace = seen(found)
    assert (trace.step_count, trace.epoch_count) == (32, 4)
    assert set(trace.steps["backward_calls"]) == {2}
    assert 0.5 < trace.losses.values[0] < 2, "as it was before it was divided"
    rate_too_high(found, ACCELERATE)


@pytest.mark.frameworks
def test_hydra(diagnose: Diagnose) -> None:
    config = "epochs: 4\nmodel:\n  width: 16\noptim:\n  lr: 8.0\n"
    found = diagnose(HYDRA, conf__main=config)
    assert seen(found).step_count == 64
    rate_too_high(found, config)
    assert first(found)[1] == "main.yaml"


@pytest.mark.frameworks
def test_amp(diagnose: Diagnose) -> None:
    found = diagnose(AMP)
    trace = seen(found)
    assert trace.step_count == 64
    assert trace.missing == ()
    assert 0.5 < trace.losses.values[0] < 2, "as it was before it was scaled"
    rate_too_high(found, AMP)


@pytest.mark.frameworks
@pytest.mark.parametrize("dtype", ["bfloat16", "float16"])
def test_half_precision(diagnose: Diagnose, dtype: str) -> None:
    text = DATA + NET + f"net, x = net.to(torch.{dtype}), x.to(torch.{dtype})\n" + LOOP
    found = diagnose(text)
    trace = seen(found)
    assert trace.step_count == 64
    assert trace.missing == ()
    rate_too_high(found, text)


@pytest.mark.frameworks
def test_compile(diagnose: Diagnose) -> None:
    text = DATA + NET + 'net = torch.compile(net, backend="eager")\n' + LOOP
    found = diagnose(text)
    trace = seen(found)
    assert trace.step_count == 64
    assert [layer.type for layer in trace.graph.layers] == ["Linear", "ReLU", "Linear"]
    assert any("the model is compiled" in sentence for sentence in trace.missing)
    rate_too_high(found, text)


@pytest.mark.frameworks
def test_torchrun(diagnose: Diagnose) -> None:
    torchrun = str(Path(sys.executable).parent / "torchrun")
    found = diagnose(DDP, torchrun, "--standalone", "--nproc-per-node=2", "train.py")
    trace = seen(found)
    assert (trace.step_count, trace.epoch_count) == (32, 4)
    assert [layer.type for layer in trace.graph.layers] == ["Linear", "ReLU", "Linear"]
    rate_too_high(found, DDP)


@pytest.mark.frameworks
def test_notebook(diagnose: Diagnose) -> None:
    cells = [
        {"cell_type": "markdown", "metadata": {}, "source": "# Three classes"},
        *(
            {
                "cell_type": "code",
                "metadata": {},
                "outputs": [],
                "execution_count": None,
                "source": source,
            }
            for source in (DATA, NET, LOOP.lstrip())
        ),
    ]
    Path("train.ipynb").write_text(
        json.dumps({"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5})
    )
    found = diagnose("", "train.ipynb")
    assert seen(found).step_count == 64
    assert names(found) & {
        "learning-rate-outside-range",
        "learning-rate-high",
        "update-too-fast",
    }
    assert "train.ipynb cell 3 line 1" in mimebundle(found)["text/plain"]


@pytest.mark.frameworks
def test_keras_on_torch(diagnose: Diagnose) -> None:
    found = diagnose(KERAS)
    trace = seen(found)
    assert (trace.step_count, trace.epoch_count) == (48, 4)
    assert len(trace.layers) > 0
    assert len(trace.metric("val_loss", "keras")) == 4
    assert found.evidence.experiments.one_batch is not None
    assert found.evidence.experiments.learning_rates is not None
    rate_too_high(found, KERAS)


@pytest.mark.frameworks
def test_keras_custom_step_on_torch(diagnose: Diagnose) -> None:
    found = diagnose(KERAS_STEP)
    assert seen(found).step_count == 64
    assert first(found) == (
        "gradients-not-cleared",
        "train.py",
        line_of(KERAS_STEP, "loss.backward"),
    )


@pytest.mark.frameworks
@pytest.mark.parametrize("backend", ["tensorflow", "jax"])
def test_keras_fit_elsewhere(
    diagnose: Diagnose, monkeypatch: pytest.MonkeyPatch, backend: str
) -> None:
    monkeypatch.setenv("KERAS_BACKEND", backend)
    found = diagnose(KERAS)
    trace = seen(found)
    assert (trace.step_count, trace.epoch_count) == (48, 4)
    assert len(trace.losses.known) == 48
    assert len(trace.metric("val_accuracy", "keras")) == 4
    assert [layer.type for layer in trace.graph.layers] == ["Dense", "Dense"]
    assert {(facts.split, facts.role) for facts in trace.data} >= {
        ("train", "input"),
        ("train", "label"),
    }
    assert len(trace.layers) == 0
    assert found.evidence.experiments.one_batch is None
    rate_too_high(found, KERAS)


@pytest.mark.frameworks
@pytest.mark.parametrize("backend", ["torch", "tensorflow", "jax"])
def test_keras_behaviour(diagnose: Diagnose, monkeypatch: pytest.MonkeyPatch, backend: str) -> None:
    monkeypatch.setenv("KERAS_BACKEND", backend)
    found = diagnose(KERAS_MIXED)
    (tested,) = found.evidence.experiments.behaviour
    assert tested.noise == 0
    assert tested.mixing is not None
    assert tested.mixing > 0.1
    assert "rows-mixed" in names(found)


def test_every_line_of_the_page_names_its_test() -> None:
    page = (ROOT / "docs" / "works-with.md").read_text()
    named = set(re.findall(r"\| `(test_\w+)` \|", page))
    own = {name for name in globals() if name.startswith("test_")}
    assert named == own - {"test_every_line_of_the_page_names_its_test"}
