"""Defect detection with few positives: focal loss from the command line."""

import argparse
import math
from dataclasses import dataclass

import numpy as np
import torch
from sklearn.metrics import average_precision_score, f1_score
from torch import nn
from torch.nn import functional as F


@dataclass
class Options:
    epochs: int = 15
    batch_size: int = 128
    lr: float = 2e-3
    gamma: float = 2.0
    alpha: float = 0.75
    prior: float = 0.05
    seed: int = 33


def get_options() -> Options:
    parser = argparse.ArgumentParser()
    for name, value in vars(Options()).items():
        parser.add_argument("--" + name.replace("_", "-"), type=type(value), default=value)
    return Options(**vars(parser.parse_args()))


def parts(n, rng):
    x = rng.normal(size=(n, 10)).astype(np.float32)
    risk = x[:, 0] * x[:, 1] + np.abs(x[:, 2]) - 0.5 * x[:, 3]
    y = (risk + 0.15 * rng.normal(size=n) > 2.9).astype(np.float32)
    return torch.from_numpy(x), torch.from_numpy(y)


class Detector(nn.Module):
    def __init__(self, prior, width=64):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(10, width), nn.ReLU(), nn.Linear(width, width), nn.ReLU())
        self.logit = nn.Linear(width, 1)
        nn.init.normal_(self.logit.weight, std=0.01)
        nn.init.constant_(self.logit.bias, -math.log((1 - prior) / prior))

    def forward(self, x):
        return self.logit(self.body(x)).squeeze(1)


def focal_loss(logits, y, gamma, alpha):
    bce = F.binary_cross_entropy_with_logits(logits, y, reduction="none")
    p_true = torch.exp(-bce)
    weight = alpha * y + (1 - alpha) * (1 - y)
    return (weight * (1 - p_true) ** gamma * bce).mean()


@torch.no_grad()
def predict(model, x):
    model.eval()
    return torch.sigmoid(model(x)).numpy()


def best_threshold(scores, y):
    grid = np.linspace(0.05, 0.95, 19)
    return grid[np.argmax([f1_score(y, scores > t, zero_division=0) for t in grid])]


def main():
    opt = get_options()
    torch.manual_seed(opt.seed)
    rng = np.random.default_rng(opt.seed)
    (x_tr, y_tr), (x_va, y_va), (x_te, y_te) = parts(8000, rng), parts(2500, rng), parts(2500, rng)
    print(f"positives in training: {y_tr.mean():.3f}")
    model = Detector(opt.prior)
    optimizer = torch.optim.Adam(model.parameters(), lr=opt.lr)
    for epoch in range(1, opt.epochs + 1):
        model.train()
        total = 0.0
        for idx in torch.randperm(len(x_tr)).split(opt.batch_size):
            optimizer.zero_grad()
            loss = focal_loss(model(x_tr[idx]), y_tr[idx], opt.gamma, opt.alpha)
            loss.backward()
            optimizer.step()
            total += loss.item() * len(idx)
        if epoch % 3 == 0:
            ap = average_precision_score(y_va, predict(model, x_va))
            print(f"epoch {epoch}: focal loss {total / len(x_tr):.5f} validation AP {ap:.3f}")
    threshold = best_threshold(predict(model, x_va), y_va)
    scores = predict(model, x_te)
    print(f"test AP {average_precision_score(y_te, scores):.3f} F1 {f1_score(y_te, scores > threshold):.3f} at {threshold:.2f}")


if __name__ == "__main__":
    main()
