"""Card fraud: two percent positives, class-weighted loss, judged by average precision."""
import argparse
from dataclasses import dataclass

import numpy as np
import torch
from sklearn.metrics import average_precision_score, recall_score
from sklearn.model_selection import train_test_split
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


@dataclass
class Config:
    n: int = 12000
    hidden: int = 48
    epochs: int = 12
    batch_size: int = 256
    lr: float = 2e-3
    seed: int = 36


def payments(n, seed):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, 14))
    score = 2.0 * x[:, 0] + 1.8 * x[:, 1] * (x[:, 2] > 0) - 1.4 * x[:, 3] + 0.5 * rng.normal(size=n)
    y = (score > np.quantile(score, 0.98)).astype(np.float32)
    return x.astype(np.float32), y


def build(cfg):
    return nn.Sequential(
        nn.Linear(14, cfg.hidden), nn.ReLU(),
        nn.Linear(cfg.hidden, cfg.hidden), nn.ReLU(), nn.Dropout(0.1),
        nn.Linear(cfg.hidden, 1),
    )


@torch.no_grad()
def predict(model, x):
    model.eval()
    return torch.sigmoid(model(x).squeeze(1)).numpy()


def main():
    parser = argparse.ArgumentParser()
    for name, value in vars(Config()).items():
        parser.add_argument(f"--{name}", type=type(value), default=value)
    cfg = Config(**vars(parser.parse_args()))
    torch.manual_seed(cfg.seed)
    x, y = payments(cfg.n, cfg.seed)
    x_rest, x_test, y_rest, y_test = train_test_split(x, y, test_size=0.2, stratify=y, random_state=cfg.seed)
    x_train, x_val, y_train, y_val = train_test_split(x_rest, y_rest, test_size=0.2, stratify=y_rest, random_state=cfg.seed)
    mean, std = x_train.mean(0), x_train.std(0)
    x_train, x_val, x_test = (torch.from_numpy((a - mean) / std) for a in (x_train, x_val, x_test))

    positive_share = float(y_train.mean())
    criterion = nn.BCEWithLogitsLoss(pos_weight=torch.tensor((1 - positive_share) / positive_share))
    loader = DataLoader(TensorDataset(x_train, torch.from_numpy(y_train)), cfg.batch_size, shuffle=True)
    model = build(cfg)
    opt = torch.optim.AdamW(model.parameters(), lr=cfg.lr)
    best, best_state = -1.0, None
    print(f"positives in training {positive_share:.3%}")
    for epoch in range(cfg.epochs):
        model.train()
        total = 0.0
        for xb, yb in loader:
            opt.zero_grad()
            loss = criterion(model(xb).squeeze(1), yb)
            loss.backward()
            opt.step()
            total += loss.item()
        ap = average_precision_score(y_val, predict(model, x_val))
        if ap > best:
            best, best_state = ap, {k: v.clone() for k, v in model.state_dict().items()}
        print(f"epoch {epoch + 1:2d} weighted loss {total / len(loader):.4f} val AP {ap:.4f}")
    model.load_state_dict(best_state)
    p = predict(model, x_test)
    print(f"test AP {average_precision_score(y_test, p):.4f} recall at 0.5 {recall_score(y_test, p > 0.5):.4f} (base rate {y_test.mean():.3f})")


if __name__ == "__main__":
    main()
