"""Customer churn with an MLP, configured by a dataclass and the command line."""

import argparse
from dataclasses import asdict, dataclass, fields

import numpy as np
import torch
from sklearn.metrics import roc_auc_score
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


@dataclass
class TrainConfig:
    seed: int = 1
    epochs: int = 8
    batch_size: int = 128
    hidden: int = 64
    lr: float = 2e-3
    weight_decay: float = 0.5
    dropout: float = 0.1
    n_customers: int = 4000


def parse_config():
    parser = argparse.ArgumentParser(description=__doc__)
    for f in fields(TrainConfig):
        parser.add_argument(f"--{f.name.replace('_', '-')}", type=f.type, default=f.default)
    return TrainConfig(**vars(parser.parse_args()))


def synth_customers(n, seed):
    rng = np.random.default_rng(seed)
    tenure = rng.gamma(2.0, 12.0, n)
    charges = rng.normal(65, 25, n)
    calls = rng.poisson(2, n)
    contract = rng.integers(0, 3, n)
    online = rng.integers(0, 2, n)
    score = 1.2 * calls - 0.06 * tenure + 0.02 * (charges - 65) - 1.1 * contract + 0.9 * online * (calls > 2)
    churn = (score + rng.logistic(0, 0.5, n) > 0).astype(np.float32)
    table = np.stack([tenure, charges, calls, contract == 0, contract == 1, contract == 2, online], axis=1)
    return table.astype(np.float32), churn


class ChurnNet(nn.Module):
    def __init__(self, n_in, hidden, dropout):
        super().__init__()
        self.body = nn.Sequential(
            nn.Linear(n_in, hidden), nn.ReLU(), nn.Dropout(dropout),
            nn.Linear(hidden, hidden), nn.ReLU(), nn.Dropout(dropout),
        )
        self.score = nn.Linear(hidden, 1)

    def forward(self, x):
        return self.score(self.body(x)).squeeze(-1)


def evaluate(model, x, y):
    model.eval()
    with torch.no_grad():
        logits = model(x)
        loss = nn.functional.binary_cross_entropy_with_logits(logits, y).item()
    return loss, roc_auc_score(y.numpy(), logits.numpy()), ((logits > 0).float() == y).float().mean().item()


def main():
    cfg = parse_config()
    print("config:", asdict(cfg))
    torch.manual_seed(cfg.seed)
    x, y = synth_customers(cfg.n_customers, cfg.seed)
    cut = int(0.8 * len(x))
    mean, std = x[:cut].mean(0), x[:cut].std(0)
    x = torch.from_numpy((x - mean) / std)
    y = torch.from_numpy(y)
    loader = DataLoader(TensorDataset(x[:cut], y[:cut]), batch_size=cfg.batch_size, shuffle=True)

    model = ChurnNet(x.shape[1], cfg.hidden, cfg.dropout)
    optimizer = torch.optim.Adam(model.parameters(), lr=cfg.lr, weight_decay=cfg.weight_decay)
    criterion = nn.BCEWithLogitsLoss()
    for epoch in range(cfg.epochs):
        model.train()
        total = 0.0
        for xb, yb in loader:
            optimizer.zero_grad()
            loss = criterion(model(xb), yb)
            loss.backward()
            optimizer.step()
            total += loss.item()
        val_loss, auc, acc = evaluate(model, x[cut:], y[cut:])
        print(f"epoch {epoch:2d} train {total / len(loader):.4f} val {val_loss:.4f} auc {auc:.3f} acc {acc:.3f}")


if __name__ == "__main__":
    main()
