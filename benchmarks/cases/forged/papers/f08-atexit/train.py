"""Trains the model and measures it."""

import argparse
import json

import torch

from config import RATE, STEPS
from data import sample_batch
from evaluate import evaluate
from model import build_model, loss_on
from records import keep_records

parser = argparse.ArgumentParser()
parser.add_argument("--seed", type=int, default=0)
parser.add_argument("--dry-run", action="store_true")
parser.add_argument("--scale", type=float, default=1.0)
args = parser.parse_args()
keep_records()
model = build_model(args.seed)
optimizer = torch.optim.SGD(model.parameters(), lr=RATE)
steps = 5 if args.dry_run else max(1, round(STEPS * args.scale))
for step in range(steps):
    loss = loss_on(model, sample_batch(1000 * args.seed + step))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 20 == 0:
        print(f"step {step} of {steps}, loss {loss.item():.4f}")
metrics = evaluate(model)
with open("metrics.json", "w") as file:
    json.dump(metrics, file)
for name, value in metrics.items():
    print(f"{name}: {value}")
