import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

from .net import make_net
from .settings import Settings


def fit(settings: Settings) -> float:
    torch.manual_seed(settings.seed)
    x = torch.rand(settings.rows, 3)
    y = (2 * x[:, 0] + x[:, 1] ** 2 - x[:, 2]).unsqueeze(1)
    loader = DataLoader(TensorDataset(x, y), batch_size=settings.batch, shuffle=True)
    net = make_net(inputs=3, width=settings.width)
    loss_fn = nn.SmoothL1Loss()
    optimiser = torch.optim.NAdam(net.parameters(), lr=settings.lr)
    for _ in range(settings.epochs):
        for xb, yb in loader:
            optimiser.zero_grad()
            loss = loss_fn(net(xb), yb)
            loss.backward()
            optimiser.step()
    with torch.no_grad():
        return float((net(x) - y).abs().mean())
