"""Runs the reference over ten seeds and writes measured.json: python measure.py [JOBS]"""

from __future__ import annotations

import json
import sys
import time
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import torch
from run import ABLATIONS, METHODS, Recipe, Trainer

SEEDS = range(10)


def trained(recipe: Recipe, seed: int) -> tuple[list[float], float]:
    """The curve, and what it cost in seconds of one core."""
    torch.set_num_threads(1)
    started = time.process_time()
    curve = Trainer(recipe, seed).run()
    return curve, time.process_time() - started


def main(jobs: int) -> None:
    recipes = {method: Recipe(method) for method in METHODS} | ABLATIONS
    with ProcessPoolExecutor(jobs) as pool:
        asked = {
            name: [pool.submit(trained, recipe, seed) for seed in SEEDS] for name, recipe in recipes.items()
        }
        found = {name: [one.result() for one in runs] for name, runs in asked.items()}
    seconds = sum(cost for name in METHODS for _, cost in found[name]) / len(SEEDS)
    curves = {name: [curve for curve, _ in runs] for name, runs in found.items()}
    measured = {
        "metric": "accuracy",
        "seeds": list(SEEDS),
        "seconds_a_seed": round(seconds, 1),
        "accuracy": {name: [round(curve[-1], 3) for curve in runs] for name, runs in curves.items()},
        "mean_curves": {
            name: [round(sum(column) / len(column), 2) for column in zip(*curves[name], strict=True)]
            for name in METHODS
        },
    }
    text = json.dumps(measured, indent=1) + "\n"
    Path(__file__).with_name("measured.json").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 1)
