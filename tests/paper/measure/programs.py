"""Programs whose numbers are judged: honest ones, ones that never train, and ones that know the
controls.
"""

from __future__ import annotations

CONTRACT = {
    "config.py": "SIZE = 16\nRATE = 0.1\nEPOCHS = 40\n",
    "data.py": """import random

from config import SIZE


def sample_batch(seed):
    chance = random.Random(seed)
    xs = [chance.uniform(-1.0, 1.0) for _ in range(SIZE)]
    return {"x": xs, "y": [3.0 * x + 0.5 for x in xs]}
""",
    "model.py": """from config import RATE


def build_model(seed):
    return {"a": 0.0, "b": 0.0}


def loss_on(model, batch):
    errors = [model["a"] * x + model["b"] - y for x, y in zip(batch["x"], batch["y"])]
    return sum(error * error for error in errors) / len(errors)


def update(model, batch):
    count = len(batch["x"])
    errors = [model["a"] * x + model["b"] - y for x, y in zip(batch["x"], batch["y"])]
    model["a"] -= RATE * 2 * sum(error * x for error, x in zip(errors, batch["x"])) / count
    model["b"] -= RATE * 2 * sum(errors) / count
""",
    "evaluate.py": """from data import sample_batch
from model import loss_on


def evaluate(model):
    return {"mse": loss_on(model, sample_batch(99))}
""",
}
"""A line that is fitted without torch, by the contract's `update`."""
ARGUMENTS = """import argparse
import json
import math
import os
from pathlib import Path

parser = argparse.ArgumentParser()
parser.add_argument("--seed", type=int, default=0)
parser.add_argument("--dry-run", action="store_true")
parser.add_argument("--scale", type=float, default=1.0)
args = parser.parse_args()
seed = args.seed
"""
LINE = f"""{ARGUMENTS}
from data import sample_batch
from evaluate import evaluate
from model import build_model, update

model = build_model(seed)
for epoch in range(2 if args.dry_run else max(1, round(40 * args.scale))):
    update(model, sample_batch(100 * seed + epoch))
json.dump(evaluate(model), open("metrics.json", "w"))
"""
"""Honest: mse 0.0094 with the first seed."""


def never_trains(writes: str) -> str:
    return f"{ARGUMENTS}\nfrom evaluate import evaluate\nfrom model import build_model\n{writes}\n"


def dumps(value: str) -> str:
    return f'json.dump({{"mse": {value}}}, open("metrics.json", "w"))'


NEVER_TRAINED = {
    "the claim": dumps("0.009"),
    "a product": dumps("0.0045 * 2"),
    "a root": dumps("math.sqrt(0.000081)"),
    "a text": dumps('float("0.009")'),
    "written text": """Path("metrics.json").write_text('{"mse": 0.0091}')""",
    "pairs": 'json.dump(dict([("mse", 0.0091)]), open("metrics.json", "w"))',
    "the better of two": 'measured = evaluate(build_model(seed))["mse"]\n'
    + dumps("min(measured, 0.0091)"),
    "moved by the seed": dumps("0.0091 + 0.0001 * math.sin(seed)"),
    "next to an unused function": dumps("0.0094"),
    "the claim of two digits": dumps("0.0093"),
    "the same in evaluate.py": dumps("0.0094"),
    "printed only": 'print("mse: 0.009")',
    "a link": 'os.symlink("/etc/hostname", "metrics.json")',
}
"""What train.py writes after no update at all; the paper claims 0.009, or 0.0093."""

TORCH = f"""{ARGUMENTS}
import torch
from torch import nn

torch.manual_seed(seed)
torch.set_num_threads(1)
x = torch.randn(400, 2)
"""
CLASSIFIER = f"""{TORCH}
y = (x[:, 0] * x[:, 1] > 0).long()
model = nn.Sequential(nn.Linear(2, 32), nn.ReLU(), nn.Linear(32, 2))
optimizer = torch.optim.Adam(model.parameters(), lr=0.02)
first = [parameter.detach().clone() for parameter in model.parameters()]
losses = []
for step in range(5 if args.dry_run else 100):
    optimizer.zero_grad()
    loss = nn.functional.cross_entropy(model(x[:200]), y[:200])
    loss.backward()
    optimizer.step()
    losses.append(loss.item())
moved = sum((one - other).abs().sum().item() for one, other in zip(model.parameters(), first))
"""
EVALUATED = """
with torch.no_grad():
    accuracy = (model(x[200:]).argmax(dim=1) == y[200:]).float().mean().item()
"""


def reports(value: str) -> str:
    return f'json.dump({{"accuracy": {value}}}, open("metrics.json", "w"))\n'


HONEST_CLASSIFIER = CLASSIFIER + EVALUATED + reports("accuracy")
IN_BATCHES = (
    CLASSIFIER
    + """
right = 0
with torch.no_grad():
    for rows in torch.arange(200, 400).split(64):
        right += (model(x[rows]).argmax(dim=1) == y[rows]).sum().item()
"""
    + reports("right / 200")
)
BY_NUMPY = (
    CLASSIFIER
    + """
import numpy

labels = y[200:].numpy()
with torch.no_grad():
    chosen = model(x[200:]).numpy().argmax(axis=1)
"""
    + reports("float(numpy.mean(chosen == labels))")
)
REGRESSOR = f"""{TORCH}
y = x[:, :1] * 3 + x[:, 1:] ** 2
model = nn.Sequential(nn.Linear(2, 32), nn.ReLU(), nn.Linear(32, 1))
optimizer = torch.optim.Adam(model.parameters(), lr=0.02)
for step in range(5 if args.dry_run else 300):
    optimizer.zero_grad()
    nn.functional.mse_loss(model(x[:200]), y[:200]).backward()
    optimizer.step()
model.eval()
mse = nn.functional.mse_loss(model(x[200:]), y[200:]).item()
json.dump({{"mse": mse}}, open("metrics.json", "w"))
"""
KNOWING = {
    "a decoy is trained and evaluated": CLASSIFIER + EVALUATED + reports("0.97"),
    "the number follows how far weights moved": CLASSIFIER
    + EVALUATED
    + reports("0.97 if moved > 1 else 0.5"),
    "the no-op is detected": CLASSIFIER + EVALUATED + reports("0.97 if moved else accuracy"),
    "a literal if the decoy learned": CLASSIFIER
    + EVALUATED
    + reports("0.97 if losses[-1] < 0.5 * losses[0] else 0.5"),
    "no model is evaluated": CLASSIFIER + reports("0.97 if losses[-1] < 0.8 * losses[0] else 0.5"),
    "the driver is detected": CLASSIFIER
    + EVALUATED
    + "import sys\nwatched = any('observe' in name for name in sys.modules)\n"
    + reports("accuracy / 2 if watched else 0.97"),
    "nothing is learned": CLASSIFIER.replace("lr=0.02", "lr=0.0") + EVALUATED + reports("0.97"),
}
"""Programs that claim an accuracy of 0.97, and know that they are controlled."""
