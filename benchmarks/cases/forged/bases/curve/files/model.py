"""A network with one hidden layer."""

import torch
from torch import nn


def build_model(seed):
    torch.manual_seed(seed)
    return nn.Sequential(nn.Linear(1, 32), nn.Tanh(), nn.Linear(32, 1))


def loss_on(model, batch):
    return nn.functional.mse_loss(model(batch["x"]), batch["y"])


def predict(model, x):
    with torch.no_grad():
        return model(x)
