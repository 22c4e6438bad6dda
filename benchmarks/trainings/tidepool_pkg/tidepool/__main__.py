"""Two-stage training: phylum first, then a species head on the frozen trunk.

    python -m tidepool --coarse-epochs 5 --fine-epochs 10
"""
import argparse

import torch

from .data import loaders
from .engine import fit
from .model import PoolNet


def main():
    parser = argparse.ArgumentParser(prog="tidepool")
    parser.add_argument("--coarse-epochs", type=int, default=5)
    parser.add_argument("--fine-epochs", type=int, default=10)
    parser.add_argument("--lr", type=float, default=2e-3)
    parser.add_argument("--fine-lr", type=float, default=1e-2)
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()

    torch.manual_seed(args.seed)
    model = PoolNet()
    optimizer = torch.optim.Adam(model.parameters(), lr=args.lr)
    fit(model, optimizer, *loaders("coarse"), epochs=args.coarse_epochs, tag="phylum")

    for group in optimizer.param_groups:
        group["lr"] = args.fine_lr
    model.to_species()
    acc = fit(model, optimizer, *loaders("fine"), epochs=args.fine_epochs, tag="species")
    print(f"species accuracy {acc:.4f}")


if __name__ == "__main__":
    main()
