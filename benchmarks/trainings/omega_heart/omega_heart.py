"""Risk score from patient records, configured with OmegaConf (omega_heart.yaml and command line overrides)."""
import sys
from pathlib import Path

import numpy as np
import torch
from omegaconf import OmegaConf
from sklearn.metrics import roc_auc_score
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


def patients(n, seed):
    rng = np.random.default_rng(seed)
    age = rng.normal(55, 12, n)
    pressure = rng.normal(130, 18, n) + 0.3 * (age - 55)
    cholesterol = rng.normal(210, 40, n)
    pulse = rng.normal(150, 22, n) - 0.6 * (age - 55)
    smoker = rng.integers(0, 2, n)
    sugar = rng.normal(100, 22, n)
    noise_columns = rng.normal(0, 1, (n, 6))
    z = (
        0.07 * (age - 55) + 0.03 * (pressure - 130) + 0.012 * (cholesterol - 210)
        - 0.03 * (pulse - 150) + 1.2 * smoker * (sugar > 105) + 1.4 * ((age > 60) & (pressure < 120)) - 0.4
    )
    y = rng.random(n) < 1 / (1 + np.exp(-2.2 * z))
    x = np.column_stack([age, pressure, cholesterol, pulse, smoker, sugar, noise_columns])
    return x.astype(np.float32), y.astype(np.float32)


class RiskNet(nn.Module):
    def __init__(self, n_in, cfg):
        super().__init__()
        blocks = []
        for width in cfg.hidden:
            blocks.append(nn.Linear(n_in, width))
            blocks.append(nn.ReLU())
            blocks.append(nn.Dropout(cfg.dropout))
            n_in = width
        self.blocks = nn.Sequential(*blocks)
        self.score = nn.Linear(n_in, 1)

    def forward(self, x):
        return self.score(self.blocks(x)).squeeze(-1)


def standardised(cfg):
    x, y = patients(cfg.data.train, cfg.seed)
    xv, yv = patients(cfg.data.val, cfg.seed + 1)
    mean, std = x.mean(0), x.std(0)
    pack = lambda a, b: TensorDataset(torch.from_numpy((a - mean) / std), torch.from_numpy(b))  # noqa: E731
    return pack(x, y), pack(xv, yv)


@torch.no_grad()
def validate(net, loader, criterion):
    net.eval()
    scores, labels = [], []
    for x, y in loader:
        scores.append(net(x))
        labels.append(y)
    scores, labels = torch.cat(scores), torch.cat(labels)
    return criterion(scores, labels).item(), roc_auc_score(labels, scores), ((scores > 0) == (labels > 0)).float().mean().item()


def main():
    cfg = OmegaConf.merge(OmegaConf.load(Path(__file__).with_suffix(".yaml")), OmegaConf.from_cli(sys.argv[1:]))
    print(OmegaConf.to_yaml(cfg))
    torch.manual_seed(cfg.seed)
    train, val = standardised(cfg)
    train_loader = DataLoader(train, batch_size=cfg.train.batch_size, shuffle=True)
    val_loader = DataLoader(val, batch_size=1000)
    net = RiskNet(train.tensors[0].shape[1], cfg.model)
    optimizer = torch.optim.AdamW(net.parameters(), lr=cfg.optim.lr, weight_decay=cfg.optim.weight_decay)
    criterion = nn.BCEWithLogitsLoss()
    for epoch in range(cfg.train.epochs):
        net.train()
        total = 0.0
        for x, y in train_loader:
            loss = criterion(net(x), y)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            total += loss.item()
        if (epoch + 1) % 4 == 0:
            val_loss, auc, acc = validate(net, val_loader, criterion)
            print(f"epoch {epoch + 1} train {total / len(train_loader):.4f} val {val_loss:.4f} auc {auc:.3f} acc {acc:.3f}")


if __name__ == "__main__":
    main()
