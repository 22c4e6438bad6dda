"""The training loop."""

import torch
from torch import nn

from octaves.model import OctaveNet
from octaves.recipe import Recipe


def train(x: torch.Tensor, y: torch.Tensor, recipe: Recipe) -> OctaveNet:
    """A new network, trained on these points; batches are drawn anew every epoch."""
    model = OctaveNet(recipe.octaves, recipe.hidden)
    optimiser = torch.optim.Adam(model.parameters(), lr=recipe.lr)
    for _ in range(recipe.epochs):
        for rows in torch.randperm(len(x)).split(recipe.batch_size):
            optimiser.zero_grad()
            nn.functional.mse_loss(model(x[rows]), y[rows]).backward()
            optimiser.step()
    return model


@torch.no_grad()
def mean_squared_error(model: OctaveNet, x: torch.Tensor, y: torch.Tensor) -> float:
    return nn.functional.mse_loss(model(x), y).item()
