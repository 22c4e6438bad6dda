"""A linear classifier."""

import torch
from torch import nn


def build_model(seed):
    torch.manual_seed(seed)
    model = nn.Linear(2, 2)
    nn.init.zeros_(model.weight)
    nn.init.zeros_(model.bias)
    return model


def loss_on(model, batch):
    return nn.functional.cross_entropy(model(batch["x"]), batch["y"])


def predict(model, x):
    with torch.no_grad():
        return model(x).argmax(dim=1)
