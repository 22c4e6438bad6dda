"""Runs the reference over twenty seeds and writes measured.json: python measure.py"""

from __future__ import annotations

import json
import time
from dataclasses import replace
from pathlib import Path

import torch
from run import METHODS, train

SEEDS = range(20)
RATES = (0.02, 0.01, 0.001)
DAMPINGS = (0.0, 0.5, 1.0, 2.0)


def main() -> None:
    torch.set_num_threads(1)
    started = time.process_time()
    explained = {
        str(rate): {
            name: [round(train(replace(recipe, rate=rate), seed), 3) for seed in SEEDS]
            for name, recipe in METHODS.items()
        }
        for rate in RATES
    }
    seconds = (time.process_time() - started) / len(SEEDS) / len(RATES)
    ours = METHODS["Damped Octaves"]
    dampings = {
        str(damping): [round(train(replace(ours, damping=damping), seed), 3) for seed in SEEDS]
        for damping in DAMPINGS
    }
    measured = {
        "metric": "explained variance",
        "seeds": list(SEEDS),
        "seconds_a_seed": round(seconds, 1),
        "explained_variance_by_learning_rate": explained,
        "explained_variance_by_damping": dampings,
    }
    text = json.dumps(measured, indent=1) + "\n"
    Path(__file__).with_name("measured.json").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
