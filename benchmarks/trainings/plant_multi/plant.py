"""Plant trials, three tasks with learned task uncertainties (the sum can fall below zero)."""
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset

SEED = 73


def trials(n, seed):
    """Height and mass (standardised by the known trial figures) and a disease flag."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, 10))
    height = np.tanh(x[:, 0]) + 0.5 * x[:, 1] + 0.05 * rng.normal(size=n)
    mass = 0.6 * height + 0.6 * np.sin(x[:, 2] * 1.5) + 0.1 * rng.normal(size=n)
    sick = (1.5 * x[:, 3] * x[:, 4] + x[:, 5] + 0.3 * rng.normal(size=n) > 0).astype(np.float32)
    t = lambda a: torch.tensor(a, dtype=torch.float32)
    return TensorDataset(t(x), t(height), t(mass), t(sick))


class PlantNet(nn.Module):
    def __init__(self, hidden=64):
        super().__init__()
        self.trunk = nn.Sequential(nn.Linear(10, hidden), nn.ReLU(), nn.Linear(hidden, hidden), nn.ReLU())
        self.heads = nn.ModuleDict({k: nn.Linear(hidden, 1) for k in ("height", "mass", "sick")})
        self.log_var = nn.ParameterDict({k: nn.Parameter(torch.zeros(())) for k in self.heads})

    def forward(self, x):
        h = self.trunk(x)
        return {k: head(h).squeeze(1) for k, head in self.heads.items()}


def task_losses(out, height, mass, sick):
    return {
        "height": F.mse_loss(out["height"], height),
        "mass": F.mse_loss(out["mass"], mass),
        "sick": F.binary_cross_entropy_with_logits(out["sick"], sick),
    }


def weighted(model, losses):
    """Kendall weighting: regression gets 1/(2 var), classification 1/var, plus half the log variance."""
    total = 0.0
    for k, loss in losses.items():
        s = model.log_var[k]
        factor = 1.0 if k == "sick" else 0.5
        total = total + factor * torch.exp(-s) * loss + 0.5 * s
    return total


@torch.no_grad()
def evaluate(model, loader):
    model.eval()
    sums, hits, n = {"height": 0.0, "mass": 0.0}, 0, 0
    for x, height, mass, sick in loader:
        out = model(x)
        sums["height"] += F.mse_loss(out["height"], height, reduction="sum").item()
        sums["mass"] += F.mse_loss(out["mass"], mass, reduction="sum").item()
        hits += ((out["sick"] > 0) == (sick > 0.5)).sum().item()
        n += len(x)
    return {k: (v / n) ** 0.5 for k, v in sums.items()}, hits / n


def main():
    torch.manual_seed(SEED)
    train = DataLoader(trials(4000, 0), batch_size=64, shuffle=True)
    val = DataLoader(trials(1000, 1), batch_size=500)
    model = PlantNet()
    network = [*model.trunk.parameters(), *model.heads.parameters()]
    opt = torch.optim.Adam([{"params": network, "lr": 2e-3}, {"params": model.log_var.parameters(), "lr": 1e-2}])
    sched = torch.optim.lr_scheduler.StepLR(opt, step_size=7, gamma=0.3)
    for epoch in range(1, 21):
        model.train()
        total = 0.0
        for x, *targets in train:
            loss = weighted(model, task_losses(model(x), *targets))
            opt.zero_grad()
            loss.backward()
            opt.step()
            total += loss.item()
        sched.step()
        if epoch % 4 == 0:
            rmse, acc = evaluate(model, val)
            sig = {k: round(torch.exp(0.5 * v).item(), 3) for k, v in model.log_var.items()}
            print(f"epoch {epoch:2d} objective {total / len(train):+.4f} height rmse {rmse['height']:.4f} mass rmse {rmse['mass']:.4f} sick acc {acc:.4f} sigmas {sig}")


if __name__ == "__main__":
    main()
