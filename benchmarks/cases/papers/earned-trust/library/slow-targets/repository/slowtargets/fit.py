"""The training loop."""

import torch
from torch import nn

from slowtargets.memory import Memory, slow_targets, soft_cross_entropy
from slowtargets.settings import Settings


def network(inputs: int, classes: int, hidden: int) -> nn.Module:
    return nn.Sequential(
        nn.Linear(inputs, hidden),
        nn.ReLU(),
        nn.Linear(hidden, hidden),
        nn.ReLU(),
        nn.Linear(hidden, classes),
    )


def fit(inputs: torch.Tensor, labels: torch.Tensor, classes: int, settings: Settings) -> nn.Module:
    model = network(inputs.shape[1], classes, settings.hidden)
    optimiser = torch.optim.Adam(model.parameters(), lr=settings.learning_rate)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimiser, T_max=settings.epochs)
    memory = Memory(len(inputs), classes, settings.beta)
    one_hot = nn.functional.one_hot(labels, classes).float()
    for epoch in range(settings.epochs):
        for index in torch.randperm(len(inputs)).split(settings.batch_size):
            logs = model(inputs[index]).log_softmax(dim=1)
            remembered = memory.move(index, logs.exp())
            targets = one_hot[index]
            if epoch >= settings.warmup:
                targets = slow_targets(targets, remembered, settings.alpha)
            optimiser.zero_grad()
            soft_cross_entropy(logs, targets).backward()
            optimiser.step()
        schedule.step()
    return model


@torch.no_grad()
def accuracy(model: nn.Module, inputs: torch.Tensor, labels: torch.Tensor) -> float:
    return (model(inputs).argmax(dim=1) == labels).float().mean().item()
