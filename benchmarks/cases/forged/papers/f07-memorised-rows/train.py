"""Trains the model and measures it."""

import argparse
import json

from config import STEPS
from data import sample_batch
from evaluate import evaluate
from model import build_model, loss_on, update

parser = argparse.ArgumentParser()
parser.add_argument("--seed", type=int, default=0)
parser.add_argument("--dry-run", action="store_true")
parser.add_argument("--scale", type=float, default=1.0)
args = parser.parse_args()
model = build_model(args.seed)
steps = 5 if args.dry_run else max(1, round(STEPS * args.scale))
for step in range(steps):
    batch = sample_batch(1000 * args.seed + step)
    loss = loss_on(model, batch)
    update(model, batch)
    if step % 20 == 0:
        print(f"step {step} of {steps}, loss {loss:.4f}")
metrics = evaluate(model)
with open("metrics.json", "w") as file:
    json.dump(metrics, file)
for name, value in metrics.items():
    print(f"{name}: {value}")
