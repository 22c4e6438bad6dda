"""Species of a tree from thirty ring widths, settings merged from YAML and the command line by OmegaConf."""

import sys
from pathlib import Path

import torch
from omegaconf import OmegaConf
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

SPECIES = ("oak", "ash", "pine", "larch")


def cores(site, generator):
    """Each species answers to the same weather with its own delay and sign."""
    species = torch.randint(0, len(SPECIES), (site.trees,), generator=generator)
    weather = torch.randn(site.trees, site.years + 3, generator=generator)
    answer = torch.tensor([[1.0, 0.3, 0.0], [0.2, 1.0, 0.1], [-0.8, 0.2, 0.5], [0.1, -0.6, 0.9]])
    rings = torch.zeros(site.trees, site.years)
    for lag in range(3):
        rings += answer[species, lag : lag + 1] * weather[:, 3 - lag : 3 - lag + site.years]
    rings += 0.3 * torch.randn(rings.shape, generator=generator)
    return torch.cat([rings, weather[:, 3:]], dim=1), species


class RingNet(nn.Module):
    def __init__(self, inputs, net):
        super().__init__()
        layers = []
        for _ in range(net.depth):
            linear = nn.Linear(inputs, net.hidden)
            nn.init.kaiming_normal_(linear.weight, nonlinearity="relu")
            nn.init.constant_(linear.bias, net.bias_init)
            layers += [linear, nn.ReLU()]
            inputs = net.hidden
        self.features = nn.Sequential(*layers)
        self.classifier = nn.Linear(inputs, len(SPECIES))

    def forward(self, x):
        return self.classifier(self.features(x))


def main():
    base = OmegaConf.load(Path(__file__).with_suffix(".yaml"))
    cfg = OmegaConf.merge(base, OmegaConf.from_cli(sys.argv[1:]))
    torch.manual_seed(cfg.seed)
    generator = torch.Generator().manual_seed(cfg.seed)
    x, y = cores(cfg.site, generator)
    products = x[:, :30].unsqueeze(2) * torch.stack([x[:, 30:].roll(lag, 1) for lag in range(3)], 2)
    x = torch.cat([x, products.mean(1) * 3], dim=1)
    cut = int(0.8 * len(x))
    loader = DataLoader(TensorDataset(x[:cut], y[:cut]), cfg.batch, shuffle=True)

    model = RingNet(x.shape[1], cfg.net)
    criterion = nn.CrossEntropyLoss()
    optimizer = torch.optim.SGD(model.parameters(), lr=cfg.optim.lr, momentum=cfg.optim.momentum)
    for epoch in range(cfg.epochs):
        model.train()
        total = 0.0
        for xb, yb in loader:
            optimizer.zero_grad()
            loss = criterion(model(xb), yb)
            loss.backward()
            optimizer.step()
            total += loss.item()
        model.eval()
        with torch.no_grad():
            acc = (model(x[cut:]).argmax(1) == y[cut:]).float().mean().item()
        print(f"epoch {epoch:2d} loss {total / len(loader):.4f} val acc {acc:.3f}")


if __name__ == "__main__":
    main()
