"""Callbacks for the loops of others: the training is watched, diagnosed at its end, and stays
what it was.
"""

from __future__ import annotations

import json
import os
import subprocess
from importlib.util import find_spec
from pathlib import Path

import pytest

SETTING = """
import os
os.environ["KERAS_BACKEND"] = "torch"
import torch
from reenact import callbacks
torch.manual_seed(0)
x = torch.randn(300, 4)
y = (x[:, 0] > 0).long()
watching = callbacks.{kind}()
WATCHED = {watched}
"""
KERAS = """
import keras
keras.utils.set_random_seed(0)
dense = [keras.Input((4,)), keras.layers.Dense(16, activation="relu"), keras.layers.Dense(2)]
model = keras.Sequential(dense)
adam = keras.optimizers.Adam(5.0)
model.compile(loss="sparse_categorical_crossentropy", optimizer=adam, metrics=["accuracy"])
model.fit(x.numpy(), y.numpy(), epochs=3, batch_size=30, verbose=0, callbacks=[watching] if WATCHED else [])
weights = model.get_weights()
"""
LIGHTNING = """
import logging
import lightning
from torch.utils.data import DataLoader, TensorDataset
logging.getLogger("lightning.pytorch").setLevel(logging.ERROR)

class Net(lightning.LightningModule):
    def __init__(self):
        super().__init__()
        self.net = torch.nn.Sequential(torch.nn.Linear(4, 16), torch.nn.ReLU(), torch.nn.Linear(16, 2))

    def training_step(self, batch, number):
        return torch.nn.functional.cross_entropy(self.net(batch[0]).softmax(1), batch[1])

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=0.1)

trainer = lightning.Trainer(
    max_epochs=3, logger=False, enable_checkpointing=False, enable_progress_bar=False, accelerator="cpu",
    enable_model_summary=False, callbacks=[watching] if WATCHED else [],
)
model = Net()
trainer.fit(model, DataLoader(TensorDataset(x, y), batch_size=30, shuffle=True))
weights = [one.detach().numpy() for one in model.parameters()]
"""
TRANSFORMERS = """
import transformers

class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.net = torch.nn.Sequential(torch.nn.Linear(4, 16), torch.nn.ReLU(), torch.nn.Linear(16, 2))

    def forward(self, x, labels):
        logits = self.net(x)
        return {"loss": torch.nn.functional.cross_entropy(logits, labels), "logits": logits}

rows = [{"x": one, "labels": label} for one, label in zip(x, y)]
given = transformers.TrainingArguments(
    output_dir="out", num_train_epochs=3, per_device_train_batch_size=30, learning_rate=5.0, use_cpu=True,
    report_to=[], save_strategy="no", disable_tqdm=True, seed=0,
)
model = Net()
trainer = transformers.Trainer(
    model=model, args=given, train_dataset=rows, callbacks=[watching] if WATCHED else []
)
trainer.train()
weights = [one.detach().numpy() for one in model.parameters()]
"""
ENDING = """
import hashlib, json
sum_ = hashlib.sha256(b"".join(one.tobytes() for one in weights)).hexdigest()
found = watching.diagnosis
seen = [] if found is None else [one.first.code for one in found.findings]
steps = 0 if found is None else found.evidence.trace.step_count
print(json.dumps({"weights": sum_, "findings": seen, "steps": steps}))
"""
LOOPS = {"keras": KERAS, "lightning": LIGHTNING, "transformers": TRANSFORMERS}


def trained(python: str, folder: Path, kind: str, *, watched: bool) -> tuple[str, str]:
    """The last line of what it prints, and stderr."""
    script = folder / "train.py"
    script.write_text(SETTING.format(kind=kind, watched=watched) + LOOPS[kind] + ENDING)
    ended = subprocess.run(
        [python, str(script)],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
        env=os.environ | {"OMP_NUM_THREADS": "1"},
    )
    assert ended.returncode == 0, ended.stderr
    return ended.stdout.splitlines()[-1], ended.stderr


@pytest.mark.sample(2)
@pytest.mark.parametrize(
    "kind",
    ["keras", "lightning", pytest.param("transformers", marks=pytest.mark.frameworks)],
)
def test_a_training_is_diagnosed_at_its_end_and_is_the_same_training(
    tmp_path: Path, warm_interpreter: str, kind: str
) -> None:
    if find_spec(kind) is None:
        pytest.skip(f"{kind} is not installed")
    line, err = trained(warm_interpreter, tmp_path, kind, watched=True)
    seen = json.loads(line)
    assert seen["steps"] == 30
    assert "Diagnosis of this training" in err
    plain = json.loads(trained(warm_interpreter, tmp_path, kind, watched=False)[0])
    assert plain["weights"] == seen["weights"]
    assert plain["findings"] == []
    if kind == "keras":
        assert seen["findings"], err
