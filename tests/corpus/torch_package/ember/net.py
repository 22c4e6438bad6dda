from torch import nn


def make_net(inputs: int, width: int) -> nn.Module:
    layers: list[nn.Module] = []
    layers.append(nn.Linear(inputs, width))
    layers.append(nn.GELU())
    layers.append(nn.Linear(width, 1))
    return nn.Sequential(*layers)
