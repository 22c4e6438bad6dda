"""A training whose books are kept is the same training, to the last bit: weights, random numbers, output. One
program for each thing that a book touches.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from reenact.probe.options import WatchOptions

START = """
import copy
import io
import random
import sys
import numpy as np
import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, Dataset, TensorDataset

random.seed(1)
np.random.seed(1)
torch.manual_seed(1)
x = torch.randn(160, 6)
y = (x @ torch.randn(6, 3)).argmax(1)
net = nn.Sequential(nn.Linear(6, 16), nn.BatchNorm1d(16), nn.ReLU(), nn.Dropout(0.3), nn.Linear(16, 3))
others = []
optimizer = torch.optim.Adam(net.parameters(), lr=0.02)

def evaluate(rows, labels):
    net.eval()
    with torch.no_grad():
        out = net(rows)
        print("val_loss", F.cross_entropy(out, labels).item(),
              "val_accuracy", (out.argmax(1) == labels).float().mean().item())
    net.train()
"""
END = """
states = [model.state_dict() for model in (net, *others)]
random_states = (torch.get_rng_state(), np.random.get_state()[1].tolist(), random.getstate())
torch.save({"states": states, "random": random_states, "next": torch.rand(4)}, "kept")
"""
DROPOUT = """
for epoch in range(6):
    for rows in torch.randperm(128).split(16):
        optimizer.zero_grad()
        F.cross_entropy(net(x[rows]), y[rows]).backward()
        optimizer.step()
    evaluate(x[128:], y[128:])
"""
AUGMENTATION = """
class Noisy(Dataset):
    def __len__(self):
        return 128
    def __getitem__(self, index):
        row = x[index] + 0.1 * torch.randn(6) * random.random()
        return (row.flip(0) if np.random.rand() < 0.5 else row), y[index]

loader = DataLoader(Noisy(), batch_size=16, shuffle=True)
held = DataLoader(TensorDataset(x[128:], y[128:]), batch_size=16)
for epoch in range(6):
    for rows, labels in loader:
        optimizer.zero_grad()
        F.cross_entropy(net(rows), labels).backward()
        optimizer.step()
    for rows, labels in held:
        evaluate(rows, labels)
"""
TWO_OPTIMIZERS = """
critic = nn.Sequential(nn.Linear(3, 8), nn.LeakyReLU(0.2), nn.Linear(8, 1))
others.append(critic)
second = torch.optim.RMSprop(critic.parameters(), lr=0.005)
for step in range(30):
    rows = torch.randint(160, (16,))
    second.zero_grad()
    made = net(torch.randn(16, 6))
    (critic(made.detach()).mean() - critic(F.one_hot(y[rows], 3).float()).mean()).backward()
    nn.utils.clip_grad_norm_(critic.parameters(), 1.0)
    second.step()
    optimizer.zero_grad()
    (-critic(made).mean()).backward()
    optimizer.step()
"""
ACCUMULATION = """
for step, rows in enumerate(torch.randint(160, (48, 16)), start=1):
    (F.cross_entropy(net(x[rows]), y[rows]) / 4).backward()
    if step % 4 == 0:
        nn.utils.clip_grad_value_(net.parameters(), 0.5)
        optimizer.step()
        optimizer.zero_grad(set_to_none=False)
"""
SCALER = """
scaler = torch.amp.GradScaler("cpu", init_scale=1024.0)
for step in range(30):
    rows = torch.randint(160, (16,))
    with torch.autocast("cpu", dtype=torch.bfloat16):
        loss = F.cross_entropy(net(x[rows]).float(), y[rows])
    scaler.scale(loss).backward()
    scaler.unscale_(optimizer)
    scaler.step(optimizer)
    scaler.update()
    optimizer.zero_grad()
evaluate(x[128:], y[128:])
"""
CLOSURE = """
optimizer = torch.optim.LBFGS(net.parameters(), lr=0.1, max_iter=4)
for step in range(8):
    def closure():
        optimizer.zero_grad()
        loss = F.cross_entropy(net(x[:128]), y[:128])
        loss.backward()
        return loss
    print(optimizer.step(closure).item())
    evaluate(x[128:], y[128:])
"""
CHECKPOINT = """
average = copy.deepcopy(net)
others.append(average)
best, kept = -1.0, None
schedule = torch.optim.lr_scheduler.ReduceLROnPlateau(optimizer, mode="max", patience=1)
for epoch in range(8):
    for rows in torch.randperm(128).split(32):
        optimizer.zero_grad()
        F.cross_entropy(net(x[rows]), y[rows]).backward()
        optimizer.step()
        with torch.no_grad():
            for slow, fast in zip(average.parameters(), net.parameters()):
                slow.lerp_(fast, 0.1)
    average.eval()
    with torch.no_grad():
        score = (average(x[128:]).argmax(1) == y[128:]).float().mean().item()
    schedule.step(score)
    if score > best:
        best, kept = score, copy.deepcopy(net.state_dict())
        stream = io.BytesIO()
        torch.save({"model": net.state_dict(), "optimizer": optimizer.state_dict()}, stream)
    print("val_accuracy", score)
net.load_state_dict(kept)
optimizer.load_state_dict(torch.load(io.BytesIO(stream.getvalue()))["optimizer"])
evaluate(x[128:], y[128:])
"""
DIVERGENCE = """
coder = nn.Linear(6, 8)
decoder = nn.Linear(4, 6)
others += [coder, decoder]
optimizer = torch.optim.Adam([*coder.parameters(), *decoder.parameters()], lr=0.01)
for step in range(30):
    rows = x[torch.randint(160, (16,))]
    mean, spread = coder(rows).chunk(2, 1)
    code = mean + torch.randn_like(mean) * (0.5 * spread).exp()
    loss = F.mse_loss(decoder(code), rows) - 0.5 * (1 + spread - mean**2 - spread.exp()).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""
POLICY = """
for step in range(30):
    state = torch.randn(16, 6)
    actions = torch.distributions.Categorical(logits=net(state))
    taken = actions.sample()
    reward = (taken == state.abs()[:, :3].argmax(1)).float()
    loss = -(actions.log_prob(taken) * (reward - reward.mean())).mean() - 0.01 * actions.entropy().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print("reward", reward.mean().item())
"""
TOWERS = """
other = nn.Linear(6, 3)
others.append(other)
optimizer.add_param_group({"params": other.parameters()})
second = x + 0.1 * torch.randn_like(x)
for epoch in range(5):
    for rows in torch.randperm(160).split(32):
        optimizer.zero_grad()
        scores = F.normalize(net(x[rows]), dim=1) @ F.normalize(other(second[rows]), dim=1).T
        F.cross_entropy(scores / 0.1, torch.arange(32)).backward()
        optimizer.step()
"""
GRADIENTS_IN_EVALUATION = """
history = []
for step in range(30):
    rows = torch.randint(128, (16,))
    optimizer.zero_grad()
    F.cross_entropy(net(x[rows]), y[rows]).backward()
    optimizer.step()
    net.eval()
    history.append(F.cross_entropy(net(x[128:]), y[128:]))
    net.train()
print(sum(history).item())
"""
MADE_AGAIN = """
class Noisy(Dataset):
    def __init__(self, first):
        self.rows = x[first:first + 64] + 0.1 * torch.randn(64, 6)
        self.labels = y[first:first + 64]
    def __len__(self):
        return 64
    def __getitem__(self, index):
        return self.rows[index], self.labels[index]

for epoch in range(6):
    parts = torch.utils.data.random_split(Noisy(64), [48, 16])
    for rows, labels in DataLoader(parts[0], batch_size=16, shuffle=True):
        optimizer.zero_grad()
        F.cross_entropy(net(rows), labels).backward()
        optimizer.step()
    for rows, labels in DataLoader(parts[1], batch_size=16):
        evaluate(rows, labels)
"""
EPISODES = """
class Agent:
    pass

agent = Agent()
for episode in range(12):
    agent.chances, agent.rewards = [], []
    for step in range(20):
        actions = torch.distributions.Categorical(logits=net(torch.randn(4, 6))[0])
        taken = actions.sample()
        agent.chances.append(actions.log_prob(taken))
        agent.rewards.append(float(taken == 0) + 0.1 * random.random())
    total, returns = 0.0, []
    for reward in agent.rewards[::-1]:
        total = reward + 0.9 * total
        returns.insert(0, total)
    optimizer.zero_grad()
    (-torch.stack(agent.chances) * torch.tensor(returns)).sum().backward()
    optimizer.step()
"""
WRITTEN_OUT = """
soft = F.one_hot(y, 3) * 0.85 + 0.05
for step in range(30):
    rows = torch.randint(160, (16,))
    optimizer.zero_grad()
    (-(soft[rows] * F.log_softmax(net(x[rows]), dim=-1)).sum(1).mean()).backward()
    optimizer.step()
"""
KERAS = """
import sys
import numpy as np
import keras

keras.utils.set_random_seed(3)
rng = np.random.default_rng(0)
x = rng.normal(size=(120, 6)).astype("float32")
y = rng.integers(0, 3, 120)
model = keras.Sequential([keras.layers.GaussianNoise(0.1), keras.layers.Dense(12, activation="relu"),
                          keras.layers.BatchNormalization(), keras.layers.Dropout(0.3),
                          keras.layers.Dense(3, activation="softmax")])
model.compile("adam", "sparse_categorical_crossentropy", metrics=["accuracy"])
history = model.fit(x[:80], y[:80], batch_size=16, epochs=4, validation_data=(x[80:], y[80:]), verbose=0)
print(model.evaluate(x[80:], y[80:], verbose=0), model.predict(x[80:], verbose=0).sum())
for step in range(5):
    print(model.train_on_batch(x[:16], y[:16]))
everything = (*history.history.values(), *model.get_weights(), np.random.rand(4))
with open("kept", "wb") as kept:
    kept.writelines(np.asarray(values).tobytes() for values in everything)
"""
PROGRAMS = {
    "dropout": START + DROPOUT + END,
    "augmentation": START + AUGMENTATION + END,
    "two-optimizers": START + TWO_OPTIMIZERS + END,
    "accumulation": START + ACCUMULATION + END,
    "scaler": START + SCALER + END,
    "closure": START + CLOSURE + END,
    "checkpoint": START + CHECKPOINT + END,
    "divergence": START + DIVERGENCE + END,
    "policy": START + POLICY + END,
    "towers": START + TOWERS + END,
    "gradients-in-evaluation": START + GRADIENTS_IN_EVALUATION + END,
    "made-again": START + MADE_AGAIN + END,
    "episodes": START + EPISODES + END,
    "written-out": START + WRITTEN_OUT + END,
    "keras": KERAS,
}


@dataclass(frozen=True)
class Left:
    """What a program leaves: its output, and the bytes of its weights and random numbers."""

    out: str
    err: str
    kept: bytes


def _left(forks: Any, script: Path, options: WatchOptions | None) -> tuple[Left, Any]:
    kept = script.parent / "kept"
    kept.unlink(missing_ok=True)
    ran = forks.run(script, cwd=script.parent, options=options, watched=options is not None)
    assert ran.code == 0, ran.err
    return Left(ran.out, ran.err, kept.read_bytes()), ran


@pytest.mark.sample(3)
@pytest.mark.parametrize("name", PROGRAMS)
def test_books_change_nothing(name: str, tmp_path: Path, forks: Any) -> None:
    script = tmp_path / "train.py"
    script.write_text(PROGRAMS[name])
    alone, _ = _left(forks, script, None)
    for books in (True, False):
        left, ran = _left(forks, script, WatchOptions(Path(), preset="deep", books=books))
        assert left == alone
        trace = ran.trace
        assert not trace.happened("probe-off"), trace.missing
        assert not any("the book of" in line for line in trace.missing), trace.missing
        assert (trace.books is not None) is books
