"""python train.py --wrong 0.4 --seed 0"""

import argparse
from dataclasses import replace

import numpy as np
import torch

from slowtargets.fit import accuracy, fit
from slowtargets.settings import Settings
from slowtargets.toy import blobs, wrong

CLASSES = 4


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--wrong", type=float, default=0.4, help="share of wrong labels")
    parser.add_argument("--alpha", type=float, default=Settings.alpha)
    parser.add_argument("--epochs", type=int, default=Settings.epochs)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()

    rng = np.random.default_rng(given.seed)
    torch.manual_seed(given.seed)
    inputs, labels = blobs(800, CLASSES, rng)
    settings = replace(Settings(), alpha=given.alpha, epochs=given.epochs)
    model = fit(inputs, wrong(labels, given.wrong, CLASSES, rng), CLASSES, settings)
    print(f"test accuracy {100 * accuracy(model, *blobs(2000, CLASSES, rng)):.1f}")


if __name__ == "__main__":
    main()
