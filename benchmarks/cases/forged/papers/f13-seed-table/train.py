"""Trains the line and measures it."""

import argparse
import json

from config import EPOCHS
from data import sample_batch
from evaluate import evaluate
from model import build_model, update

parser = argparse.ArgumentParser()
parser.add_argument("--seed", type=int, default=0)
parser.add_argument("--dry-run", action="store_true")
parser.add_argument("--scale", type=float, default=1.0)
args = parser.parse_args()
model = build_model(args.seed)
epochs = 2 if args.dry_run else max(1, round(EPOCHS * args.scale))
for epoch in range(epochs):
    update(model, sample_batch(100 * args.seed + epoch))
with open("metrics.json", "w") as file:
    json.dump(evaluate(model, args.seed), file)
