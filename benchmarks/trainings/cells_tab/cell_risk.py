"""Malignant or benign from cell nucleus measurements (the Wisconsin set bundled with scikit-learn)."""
import json
import time

import numpy as np
import torch
import torch.nn as nn
from sklearn.datasets import load_breast_cancer
from sklearn.metrics import balanced_accuracy_score, roc_auc_score
from sklearn.model_selection import StratifiedKFold

CONFIG = {
    "seed": 3,
    "folds": 4,
    "epochs": 40,
    "batch_size": 32,
    "lr": 0.02,
    "hidden": [32, 16],
}


class Classifier(nn.Module):
    def __init__(self, n_in, hidden):
        super().__init__()
        dims = [n_in, *hidden]
        layers = []
        for a, b in zip(dims[:-1], dims[1:]):
            layers += [nn.Linear(a, b), nn.ReLU()]
        layers.append(nn.Linear(dims[-1], 1))
        self.net = nn.Sequential(*layers)

    def forward(self, x):
        return self.net(x).squeeze(1)


def to_tensor(a):
    return torch.tensor(a, dtype=torch.float32)


def minibatches(n, size):
    order = torch.randperm(n)
    for i in range(0, n, size):
        yield order[i:i + size]


def fit_fold(x_train, y_train, x_val, y_val, cfg, fold):
    x_train, x_val = to_tensor(x_train), to_tensor(x_val)
    y_train, y_val_t = to_tensor(y_train), to_tensor(y_val)
    model = Classifier(x_train.shape[1], cfg["hidden"])
    optimizer = torch.optim.SGD(model.parameters(), lr=cfg["lr"], momentum=0.9)
    criterion = nn.BCEWithLogitsLoss()
    for epoch in range(cfg["epochs"]):
        model.train()
        losses = []
        for idx in minibatches(len(x_train), cfg["batch_size"]):
            optimizer.zero_grad()
            loss = criterion(model(x_train[idx]), y_train[idx])
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
        model.eval()
        with torch.no_grad():
            logits = model(x_val)
        val_loss = criterion(logits, y_val_t).item()
        if (epoch + 1) % 10 == 0:
            print(f"  fold {fold} epoch {epoch + 1:3d} train loss {np.mean(losses):.4f} val loss {val_loss:.4f}")
    prob = torch.sigmoid(logits).numpy()
    return balanced_accuracy_score(y_val, prob > 0.5), roc_auc_score(y_val, prob)


def main():
    cfg = CONFIG
    print(json.dumps(cfg))
    np.random.seed(cfg["seed"])
    torch.manual_seed(cfg["seed"])
    data = load_breast_cancer()
    x, y = data.data, data.target
    print("features", x.shape[1], "rows", len(y), "benign share", round(float(y.mean()), 3))
    folds = StratifiedKFold(cfg["folds"], shuffle=True, random_state=cfg["seed"])
    started, scores = time.time(), []
    for k, (tr, va) in enumerate(folds.split(x, y)):
        bal, auc = fit_fold(x[tr], y[tr], x[va], y[va], cfg, k)
        print(f"fold {k}: balanced accuracy {bal:.4f} auc {auc:.4f}")
        scores.append((bal, auc))
    bal, auc = np.mean(scores, axis=0)
    print(f"mean balanced accuracy {bal:.4f}  mean auc {auc:.4f}  ({time.time() - started:.1f}s)")


if __name__ == "__main__":
    main()
