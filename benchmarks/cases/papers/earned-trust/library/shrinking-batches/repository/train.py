"""python train.py --wrong 0.2 --seed 0"""

import argparse

import numpy as np
import torch

from shrinking.data import crescents, tensors, with_wrong_labels
from shrinking.training import accuracy, network, train


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--wrong", type=float, default=0.2, help="share of labels that are made wrong")
    parser.add_argument("--share", type=float, default=0.2, help="share of every batch that is left out")
    parser.add_argument("--ramp", type=int, default=10, help="epochs until the whole share is left out")
    parser.add_argument("--epochs", type=int, default=60)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()

    rng = np.random.default_rng(given.seed)
    torch.manual_seed(given.seed)
    inputs, labels = crescents(1000, rng)
    train_set = tensors(inputs, with_wrong_labels(labels, given.wrong, rng))
    test_set = tensors(*crescents(2000, rng))

    model = network(inputs=2, classes=2)
    train(model, *train_set, share=given.share, ramp=given.ramp, epochs=given.epochs)
    print(f"test accuracy {100 * accuracy(model, *test_set):.1f}")


if __name__ == "__main__":
    main()
