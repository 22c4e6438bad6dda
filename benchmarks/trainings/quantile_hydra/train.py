"""Quantile regression of delivery delays: pinball loss, one-cycle schedule stepped after every batch."""
import hydra
import torch
from omegaconf import DictConfig
from torch import nn


def delays(n, g):
    """Delay in hours against plan; negative when early.  The spread grows with distance and load."""
    distance, load, hour = (torch.rand(n, generator=g) for _ in range(3))
    centre = 3 * distance - 2 + 2 * torch.sin(6.28 * hour) * load
    spread = 0.1 + 1.2 * distance * load
    noise = torch.randn(n, generator=g)
    skewed = torch.where(noise > 0, 2 * noise, noise)
    return torch.stack([distance, load, hour], 1) * 2 - 1, centre + spread * skewed


class QuantileNet(nn.Module):
    def __init__(self, width, depth, n_quantiles):
        super().__init__()
        layers, d = [], 3
        for _ in range(depth):
            layers += [nn.Linear(d, width), nn.SiLU()]
            d = width
        self.trunk = nn.Sequential(*layers)
        self.lowest = nn.Linear(width, 1)
        self.gaps = nn.Linear(width, n_quantiles - 1)

    def forward(self, x):
        h = self.trunk(x)
        # sums of positive gaps: quantiles can not cross
        steps = nn.functional.softplus(self.gaps(h))
        return torch.cat([self.lowest(h), steps], dim=1).cumsum(dim=1)


class PinballLoss(nn.Module):
    def __init__(self, quantiles):
        super().__init__()
        self.register_buffer("q", torch.tensor(list(quantiles)))

    def forward(self, pred, y):
        err = y[:, None] - pred
        return torch.maximum(self.q * err, (self.q - 1) * err).mean()


@hydra.main(version_base=None, config_path="conf", config_name="config")
def main(cfg: DictConfig) -> None:
    torch.manual_seed(cfg.seed)
    g = torch.Generator().manual_seed(cfg.seed)
    x, y = delays(cfg.data.n_train, g)
    xt, yt = delays(cfg.data.n_test, g)

    model = QuantileNet(cfg.model.width, cfg.model.depth, len(cfg.quantiles))
    criterion = PinballLoss(cfg.quantiles)
    constant = torch.quantile(y, criterion.q)[None].expand(len(yt), -1)
    print(f"constant quantiles: pinball {criterion(constant, yt):.4f}")

    steps = len(y) // cfg.train.batch_size
    optimizer = torch.optim.SGD(model.parameters(), lr=cfg.train.max_lr, momentum=0.9, nesterov=True)
    scheduler = torch.optim.lr_scheduler.OneCycleLR(
        optimizer, max_lr=10 * cfg.train.max_lr, epochs=cfg.train.epochs, steps_per_epoch=steps,
        pct_start=cfg.train.pct_start, base_momentum=0.85, max_momentum=0.95,
    )
    for epoch in range(cfg.train.epochs):
        model.train()
        total = 0.0
        for idx in torch.randperm(len(y)).split(cfg.train.batch_size):
            loss = criterion(model(x[idx]), y[idx])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            scheduler.step()
            total += loss.item()
        model.eval()
        with torch.no_grad():
            pred = model(xt)
        cover = (yt[:, None] <= pred).float().mean(0)
        print(f"epoch {epoch + 1:2d}  train {total / steps:.4f}  test {criterion(pred, yt):.4f}  "
              f"share below: {' '.join(f'{c:.2f}' for c in cover)}  lr {scheduler.get_last_lr()[0]:.5f}")


if __name__ == "__main__":
    main()
