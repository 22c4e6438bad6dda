"""python fit.py --function chirp --seed 0"""

import argparse
from dataclasses import replace

import torch

from octaves.functions import FUNCTIONS
from octaves.recipe import Recipe
from octaves.training import mean_squared_error, train


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--function", choices=sorted(FUNCTIONS), default="chirp")
    parser.add_argument("--octaves", type=int, default=Recipe.octaves)
    parser.add_argument("--epochs", type=int, default=Recipe.epochs)
    parser.add_argument("--points", type=int, default=1024)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()

    torch.manual_seed(given.seed)
    function = FUNCTIONS[given.function]
    x = torch.rand(given.points)
    model = train(x, function(x), replace(Recipe(), octaves=given.octaves, epochs=given.epochs))
    grid = (torch.arange(1000) + 0.5) / 1000
    print(f"mean squared error {mean_squared_error(model, grid, function(grid)):.4f}")


if __name__ == "__main__":
    main()
