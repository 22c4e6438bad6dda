"""Station forecasts: temperature (mostly below zero), rain yes/no and wind sector from one trunk.
The three losses are weighted by learned log-variances."""
from dataclasses import dataclass, field

import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


@dataclass
class Args:
    epochs: int = 18
    batch: int = 96
    lr: float = 2e-3
    seed: int = 271
    widths: list = field(default_factory=lambda: [96, 64])


def stations(n, rng):
    x = rng.normal(size=(n, 14)).astype("float32")
    temp = -12 + 6 * np.tanh(x[:, 0] + 0.5 * x[:, 1]) + 3 * x[:, 2] + rng.normal(0, 0.8, n)
    rain = (x[:, 3] + x[:, 4] * x[:, 0] + rng.normal(0, 0.5, n) > 0.5).astype("float32")
    angle = np.arctan2(x[:, 5] + 0.3 * x[:, 6], x[:, 7])
    sector = ((angle + np.pi) / (2 * np.pi) * 8).astype("int64").clip(0, 7)
    # a fifth of the stations have no wind vane
    sector[rng.random(n) < 0.2] = -100
    return [torch.from_numpy(np.asarray(v, dtype=v.dtype if v.dtype != np.float64 else "float32"))
            for v in (x, temp, rain, sector)]


class Forecaster(nn.Module):
    def __init__(self, widths):
        super().__init__()
        layers, last = [], 14
        for w in widths:
            layers += [nn.Linear(last, w), nn.LayerNorm(w), nn.GELU()]
            last = w
        self.trunk = nn.Sequential(*layers)
        self.temp, self.rain, self.wind = nn.Linear(last, 1), nn.Linear(last, 1), nn.Linear(last, 8)
        self.log_var = nn.Parameter(torch.zeros(3))

    def forward(self, x):
        h = self.trunk(x)
        return self.temp(h)[:, 0], self.rain(h)[:, 0], self.wind(h)

    def weigh(self, losses):
        losses = torch.stack(losses)
        return (torch.exp(-self.log_var) * losses + self.log_var).sum()


def main(args):
    torch.manual_seed(args.seed)
    rng = np.random.default_rng(args.seed)
    train, val = stations(7000, rng), stations(1500, rng)
    mean, std = train[1].mean(), train[1].std()
    loader = DataLoader(TensorDataset(*train), batch_size=args.batch, shuffle=True)

    model = Forecaster(args.widths)
    decay = [p for n, p in model.named_parameters() if p.ndim > 1]
    plain = [p for n, p in model.named_parameters() if p.ndim <= 1]
    opt = torch.optim.AdamW([{"params": decay, "weight_decay": 0.02}, {"params": plain, "weight_decay": 0.0}], lr=args.lr)
    bce, ce, mse = nn.BCEWithLogitsLoss(), nn.CrossEntropyLoss(ignore_index=-100), nn.MSELoss()

    for epoch in range(args.epochs):
        model.train()
        total = 0.0
        for x, temp, rain, sector in loader:
            t, r, w = model(x)
            loss = model.weigh([mse(t, (temp - mean) / std), bce(r, rain), ce(w, sector)])
            opt.zero_grad()
            loss.backward()
            opt.step()
            total += loss.item()
        if epoch % 3 == 2:
            model.eval()
            with torch.no_grad():
                t, r, w = model(val[0])
            mae = (t * std + mean - val[1]).abs().mean().item()
            rain_acc = ((r > 0).float() == val[2]).float().mean().item()
            seen = val[3] >= 0
            wind_acc = (w.argmax(1)[seen] == val[3][seen]).float().mean().item()
            weights = ", ".join(f"{v:.2f}" for v in torch.exp(-model.log_var).tolist())
            print(f"[{epoch + 1:2d}] loss {total / len(loader):+.3f} temp MAE {mae:.2f}K rain {rain_acc:.3f} wind {wind_acc:.3f} weights {weights}")
    print(f"baselines: temp {(val[1] - mean).abs().mean():.2f}K rain {max(val[2].mean(), 1 - val[2].mean()):.3f} wind {0.125:.3f}")


if __name__ == "__main__":
    main(Args())
