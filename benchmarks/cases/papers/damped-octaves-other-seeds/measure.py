"""The reference of damped-octaves with seeds that the paper does not have: python measure.py"""

from __future__ import annotations

import json
import sys
from dataclasses import replace
from pathlib import Path

import torch

HERE = Path(__file__).parent
ROOT = HERE.parents[3]
sys.path.insert(0, str(ROOT / "src/reenact/demo/cases/papers/damped-octaves/reference"))

import run  # noqa: E402  (the reference is no package)

SEEDS = range(20, 40)
DAMPINGS = (0.5, 2.0)


def main() -> None:
    torch.set_num_threads(1)
    ours = run.METHODS["Damped Octaves"]
    recipes = run.METHODS | {f"damping {one}": replace(ours, damping=one) for one in DAMPINGS}
    explained = {
        name: [round(run.train(recipe, seed), 3) for seed in SEEDS] for name, recipe in recipes.items()
    }
    measured = {"metric": "explained variance", "seeds": list(SEEDS), "explained_variance": explained}
    (HERE / "measured.json").write_text(json.dumps(measured, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
