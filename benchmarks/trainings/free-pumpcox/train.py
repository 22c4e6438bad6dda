"""Ranking hydraulic pumps by failure risk with a neural Cox model."""
import argparse
import time as clock

import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

SENSORS = ["flow", "pressure_in", "pressure_out", "temp_oil", "temp_motor", "vib_x", "vib_y", "vib_z",
           "current", "speed", "particles", "viscosity"]


def simulate_pumps(n, rng):
    """Condition summaries taken at commissioning plus hours until seal failure or preventive overhaul (earlier for hard duty)."""
    base = rng.normal(size=(n, 3))
    mix = np.random.default_rng(7).normal(size=(3, len(SENSORS))) * 0.5
    x = base @ mix + rng.normal(size=(n, len(SENSORS)))
    vibration = np.sqrt(x[:, 5] ** 2 + x[:, 6] ** 2 + x[:, 7] ** 2)
    log_risk = (0.8 * vibration + 0.6 * x[:, 3] + 0.7 * np.tanh(x[:, 10] - x[:, 11])
                + 0.4 * x[:, 1] * x[:, 8] - 0.3 * x[:, 9])
    log_risk -= log_risk.mean()
    life = 9000.0 * (rng.exponential(size=n) * np.exp(-log_risk)) ** (1 / 1.8)
    overhaul = rng.uniform(1500.0, 32000.0, size=n) * np.exp(-0.45 * log_risk)
    hours = np.minimum(life, overhaul)
    failed = life <= overhaul
    return x.astype(np.float32), hours.astype(np.float32), failed.astype(np.float32)


class RiskNet(nn.Module):
    def __init__(self, n_in, width, dropout):
        super().__init__()
        self.body = nn.Sequential(
            nn.Linear(n_in, width), nn.SiLU(), nn.Dropout(dropout),
            nn.Linear(width, width), nn.SiLU(), nn.Dropout(dropout),
        )
        self.head = nn.Linear(width, 1, bias=False)

    def forward(self, x):
        return self.head(self.body(x)).squeeze(-1)


def cox_loss(log_risk, failed):
    """Negative partial log likelihood (Breslow)."""
    log_denominator = torch.logcumsumexp(log_risk, dim=0)
    return -((log_risk - log_denominator) * failed).sum() / failed.sum().clamp(min=1.0)


def to_dataset(x, hours, failed):
    order = np.argsort(-hours, kind="stable")
    return TensorDataset(torch.from_numpy(x[order]), torch.from_numpy(hours[order]), torch.from_numpy(failed[order]))


def concordance(hours, failed, log_risk):
    """Harrell's C over all comparable pairs."""
    shorter = (hours[:, None] < hours[None, :]) & (failed[:, None] > 0)
    higher = (log_risk[:, None] > log_risk[None, :]).astype(np.float64)
    higher += 0.5 * (log_risk[:, None] == log_risk[None, :])
    return float((higher * shorter).sum() / shorter.sum())


@torch.no_grad()
def score(model, x):
    model.eval()
    return model(torch.from_numpy(x)).numpy()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--pumps", type=int, default=6000)
    parser.add_argument("--epochs", type=int, default=24)
    parser.add_argument("--batch-size", type=int, default=128)
    parser.add_argument("--width", type=int, default=64)
    parser.add_argument("--dropout", type=float, default=0.1)
    parser.add_argument("--lr", type=float, default=2e-3)
    parser.add_argument("--weight-decay", type=float, default=1e-3)
    args = parser.parse_args()

    torch.manual_seed(args.seed)
    rng = np.random.default_rng(args.seed)
    x, hours, failed = simulate_pumps(args.pumps, rng)
    n_train, n_valid = int(0.6 * len(x)), int(0.2 * len(x))
    train = slice(0, n_train)
    valid = slice(n_train, n_train + n_valid)
    test = slice(n_train + n_valid, None)

    mean, std = x[train].mean(axis=0), x[train].std(axis=0)
    x = (x - mean) / std
    print(f"{len(x)} pumps, {failed.mean():.0%} failed, median follow-up {np.median(hours):.0f} h")

    dataset = to_dataset(x[train], hours[train], failed[train])
    loader = DataLoader(dataset, batch_size=args.batch_size, shuffle=True, drop_last=True)

    model = RiskNet(len(SENSORS), args.width, args.dropout)
    optimizer = torch.optim.AdamW(model.parameters(), lr=args.lr, weight_decay=args.weight_decay)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, max_lr=args.lr, total_steps=args.epochs * len(loader))

    started = clock.time()
    best_c, best_state = 0.0, None
    for epoch in range(1, args.epochs + 1):
        model.train()
        running = 0.0
        for features, _, event in loader:
            loss = cox_loss(model(features), event)
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 5.0)
            optimizer.step()
            schedule.step()
            running += loss.item()
        c_valid = concordance(hours[valid], failed[valid], score(model, x[valid]))
        if c_valid > best_c:
            best_c = c_valid
            best_state = {k: v.clone() for k, v in model.state_dict().items()}
        if epoch % 5 == 0 or epoch == 1:
            print(f"epoch {epoch:3d}  loss {running / len(loader):.4f}  valid C {c_valid:.4f}")

    model.load_state_dict(best_state)
    risk = score(model, x[test])
    print(f"test C {concordance(hours[test], failed[test], risk):.4f}  ({clock.time() - started:.1f} s)")


if __name__ == "__main__":
    main()
