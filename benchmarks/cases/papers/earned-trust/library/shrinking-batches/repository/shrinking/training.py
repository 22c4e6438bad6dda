"""A plain training loop around the loss."""

import torch
from torch import nn

from shrinking.loss import ShrinkingLoss


def network(inputs: int, classes: int, hidden: int = 64) -> nn.Module:
    return nn.Sequential(
        nn.Linear(inputs, hidden),
        nn.ReLU(),
        nn.Linear(hidden, hidden),
        nn.ReLU(),
        nn.Linear(hidden, classes),
    )


def train(
    model: nn.Module,
    inputs: torch.Tensor,
    labels: torch.Tensor,
    *,
    share: float = 0.2,
    ramp: int = 10,
    epochs: int = 60,
    batch_size: int = 50,
    learning_rate: float = 0.005,
) -> None:
    """Trains in place; batches are drawn anew every epoch."""
    loss_of = ShrinkingLoss(share, ramp)
    optimiser = torch.optim.Adam(model.parameters(), lr=learning_rate)
    for epoch in range(epochs):
        loss_of.set_epoch(epoch)
        for rows in torch.randperm(len(inputs)).split(batch_size):
            optimiser.zero_grad()
            loss_of(model(inputs[rows]), labels[rows]).backward()
            optimiser.step()


@torch.no_grad()
def accuracy(model: nn.Module, inputs: torch.Tensor, labels: torch.Tensor) -> float:
    model.eval()
    right = (model(inputs).argmax(dim=1) == labels).float().mean().item()
    model.train()
    return right
