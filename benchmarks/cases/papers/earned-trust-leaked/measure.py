"""The reference of earned-trust with the test examples among the training ones: python measure.py

Earned Trust alone is trained so; the baselines are trained as the paper says.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import torch

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent / "earned-trust" / "reference"))

import run  # noqa: E402  (the reference is no package)

SEEDS = range(10)


class Leaked(run.Trainer):
    """A trainer that learns from the test examples with their true labels too."""

    def __init__(self, recipe: run.Recipe, seed: int) -> None:
        super().__init__(recipe, seed)
        inputs, labels = self.test
        self.inputs, self.given = torch.cat([self.inputs, inputs]), torch.cat([self.given, labels])
        self.remembered = torch.full((len(self.given), run.CLASSES), 1 / run.CLASSES)

    def run(self) -> list[float]:
        """As the reference, over all examples that are there."""
        drawn, run.TRAIN = run.TRAIN, len(self.given)
        try:
            return super().run()
        finally:
            run.TRAIN = drawn


def main() -> None:
    torch.set_num_threads(1)
    accuracy = [round(_leaked(seed), 3) for seed in SEEDS]
    measured = {"metric": "accuracy", "seeds": list(SEEDS), "accuracy": {"Earned Trust": accuracy}}
    (HERE / "measured.json").write_text(json.dumps(measured, indent=1) + "\n", encoding="utf-8")


def _leaked(seed: int) -> float:
    return Leaked(run.Recipe("Earned Trust"), seed).run()[-1]


if __name__ == "__main__":
    main()
