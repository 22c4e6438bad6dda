"""The observed training is the same training: weights, losses, output and exit code, to the
last bit.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from reenact.probe.options import PRESETS, WatchOptions
from reenact.probe.read import read_trace

TORCH = """
import sys
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

def fit(model, x, y, optimizer):
    losses = []
    for epoch in range(3):
        model.train()
        for xb, yb in DataLoader(TensorDataset(x, y), batch_size=8, shuffle=True):
            optimizer.zero_grad()
            loss = nn.functional.cross_entropy(model(xb), yb)
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
        model.eval()
        with torch.no_grad():
            print("epoch", epoch, (model(x).argmax(1) == y).float().mean().item())
    return losses

torch.manual_seed(1)
mlp = nn.Sequential(nn.Linear(5, 16), nn.ReLU(), nn.Dropout(0.4), nn.Linear(16, 3))
rows, labels = torch.randn(96, 5), torch.randint(3, (96,))
kept = [fit(mlp, rows, labels, torch.optim.Adam(mlp.parameters(), lr=0.02))]
conv = nn.Sequential(nn.Conv2d(1, 4, 3), nn.BatchNorm2d(4), nn.GELU(), nn.Dropout2d(0.2), nn.Flatten(),
                     nn.Linear(64, 3))
pictures = torch.randn(48, 1, 6, 6)
kept.append(fit(conv, pictures, labels[:48], torch.optim.SGD(conv.parameters(), lr=0.1, momentum=0.9)))
weights = [mlp.state_dict(), conv.state_dict()]
torch.save({"losses": kept, "weights": weights, "next": torch.rand(4)}, "kept")
sys.exit(5)
"""

FORMULAS = """
import sys
import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(2)
x, y = torch.randn(64, 8), torch.randint(3, (64,))
attention = nn.TransformerEncoderLayer(8, 2, 16, batch_first=True)
student, teacher = nn.Sequential(nn.Linear(8, 16), nn.Dropout(0.3), nn.Linear(16, 3)), nn.Linear(8, 3)
encoder, critic = nn.Linear(8, 4), nn.Linear(8, 1)
moved = [*student.parameters(), *encoder.parameters(), *critic.parameters()]
optimizer = torch.optim.AdamW(moved, lr=0.01)
schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, 0.02, total_steps=40)
losses = []
for step in range(40):
    optimizer.zero_grad()
    scores = student(x)
    attention.eval()
    with torch.no_grad():
        taught = teacher(attention(x[:, None])[:, 0])
    distilled = F.kl_div(scores.log_softmax(1), taught.softmax(1), reduction="batchmean")
    mean, width = encoder(x).chunk(2, 1)
    code = mean + torch.randn_like(mean) * (0.5 * width).exp()
    divergence = -0.5 * (1 + width - mean**2 - width.exp()).sum(1).mean()
    policy = torch.distributions.Categorical(logits=student(x))
    actions = policy.sample()
    values = critic(x).squeeze(-1)
    returns = x[:, 0] + actions + torch.randn(64)
    logs = policy.log_prob(actions)
    ahead = (returns - values).detach()
    ratio = (logs - logs.detach()).exp()
    paid = -torch.min(ratio * ahead, ratio.clamp(0.8, 1.2) * ahead).mean()
    loss = distilled + divergence + code.pow(2).mean() + paid + F.mse_loss(values, returns)
    loss.backward()
    optimizer.step()
    schedule.step()
    losses.append(loss.item())
weights = [student.state_dict(), encoder.state_dict(), critic.state_dict()]
torch.save({"losses": losses, "weights": weights, "next": torch.rand(4)}, "kept")
sys.exit(3)
"""

KERAS = """
import sys
import numpy as np
import keras

keras.utils.set_random_seed(3)
rng = np.random.default_rng(0)
x, y = rng.normal(size=(80, 6)).astype("float32"), rng.integers(0, 2, 80)
model = keras.Sequential([keras.layers.Dense(12, activation="relu"), keras.layers.Dropout(0.3),
                          keras.layers.Dense(1, activation="sigmoid")])
model.compile("adam", "binary_crossentropy", metrics=["accuracy"])
history = model.fit(x, y, batch_size=16, epochs=3, validation_split=0.2, verbose=0)
print(model.evaluate(x, y, verbose=0, return_dict=True))
everything = (*history.history.values(), *model.get_weights(), np.random.rand(4))
with open("kept", "wb") as kept:
    kept.writelines(np.asarray(values).tobytes() for values in everything)
sys.exit(4)
"""
PROGRAMS = {"torch": (TORCH, 5), "keras": (KERAS, 4), "formulas": (FORMULAS, 3)}

Run = Callable[..., Any]


@pytest.fixture(scope="module", params=sorted(PROGRAMS))
def plain(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory, forks: Any
) -> Any:
    """A script, and what it does when nobody looks: its output, and the bytes of its weights
    and losses.
    """
    text, code = PROGRAMS[request.param]
    script = tmp_path_factory.mktemp(request.param) / "train.py"
    script.write_text(text)
    done = forks.run(script, cwd=script.parent, watched=False)
    assert done.code == code, done.err
    return script, done, (script.parent / "kept").read_bytes()


@pytest.mark.sample(4)
@pytest.mark.parametrize("preset", PRESETS)
def test_weights_losses_output_and_exit_code_are_the_same(
    plain: Any, preset: str, forks: Any
) -> None:
    script, alone, kept = plain
    (script.parent / "kept").unlink()
    watched = forks.run(script, cwd=script.parent, options=WatchOptions(Path(), preset=preset))
    assert watched.trace.step_count > 10
    assert not watched.trace.happened("probe-off"), watched.trace.missing
    assert (script.parent / "kept").read_bytes() == kept
    assert (watched.code, watched.out, watched.err) == (
        alone.code,
        alone.out,
        alone.err,
    )


@pytest.mark.release
def test_so_it_is_in_processes_of_their_own(
    tmp_path: Path, run_plain: Run, warm_interpreter: str
) -> None:
    script = tmp_path / "train.py"
    script.write_text(TORCH)
    # Nobody looks at this one: where its interpreter comes from changes nothing.
    alone = run_plain(script, python=warm_interpreter)
    kept = (tmp_path / "kept").read_bytes()
    (tmp_path / "kept").unlink()
    watched = run_plain(script, WatchOptions(tmp_path / "trace"))
    assert read_trace(tmp_path / "trace").step_count == 54
    assert (tmp_path / "kept").read_bytes() == kept
    assert alone.returncode == 5
    assert (watched.returncode, watched.stdout, watched.stderr) == (
        5,
        alone.stdout,
        alone.stderr,
    )
