"""Cultivar classification with accelerate. Rows are resampled from the wine table with measurement noise."""
import argparse

import numpy as np
import torch
from accelerate import Accelerator
from accelerate.utils import set_seed
from sklearn.datasets import load_wine
from sklearn.model_selection import train_test_split
from torch import nn
from torch.utils.data import DataLoader, Dataset


class WineRows(Dataset):
    def __init__(self, x, y):
        self.x, self.y = x.astype(np.float32), y

    def __len__(self):
        return len(self.y)

    def __getitem__(self, i):
        return {"features": self.x[i], "label": int(self.y[i])}


def resample(x, y, n, seed):
    r = np.random.default_rng(seed)
    i = r.integers(0, len(x), n)
    return x[i] + r.normal(0, 0.25, (n, x.shape[1])) * x.std(0), y[i]


def build_datasets(args):
    w = load_wine()
    xtr, xva, ytr, yva = train_test_split(w.data, w.target, test_size=0.35, stratify=w.target, random_state=args.seed)
    xtr, ytr = resample(xtr, ytr, 3000, 1)
    xva, yva = resample(xva, yva, 800, 2)
    mean, std = xtr.mean(0), xtr.std(0)
    xtr = (xtr - mean) / std
    return WineRows(xtr, ytr), WineRows(xva, yva)


class Classifier(nn.Module):
    def __init__(self, d, hidden, k):
        super().__init__()
        self.fc1 = nn.Linear(d, hidden)
        self.fc2 = nn.Linear(hidden, hidden)
        self.out = nn.Linear(hidden, k)
        self.drop = nn.Dropout(0.1)

    def forward(self, x):
        x = self.drop(torch.relu(self.fc1(x)))
        x = self.drop(torch.relu(self.fc2(x)))
        return self.out(x)


def evaluate(acc, model, loader):
    model.eval()
    preds, refs = [], []
    for batch in loader:
        with torch.no_grad():
            logits = model(batch["features"])
        p, r = acc.gather_for_metrics((logits.argmax(-1), batch["label"]))
        preds.append(p)
        refs.append(r)
    return (torch.cat(preds) == torch.cat(refs)).float().mean().item()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--epochs", type=int, default=8)
    parser.add_argument("--batch_size", type=int, default=32)
    parser.add_argument("--learning_rate", type=float, default=2e-3)
    parser.add_argument("--hidden", type=int, default=64)
    parser.add_argument("--seed", type=int, default=42)
    args = parser.parse_args()

    accelerator = Accelerator(cpu=True, gradient_accumulation_steps=2)
    set_seed(args.seed)
    train_ds, val_ds = build_datasets(args)
    train_loader = DataLoader(train_ds, batch_size=args.batch_size, shuffle=True)
    val_loader = DataLoader(val_ds, batch_size=128)
    model = Classifier(13, args.hidden, 3)
    optimizer = torch.optim.AdamW(model.parameters(), lr=args.learning_rate)
    model, optimizer, train_loader, val_loader = accelerator.prepare(model, optimizer, train_loader, val_loader)
    loss_fn = nn.CrossEntropyLoss()

    for epoch in range(args.epochs):
        model.train()
        running = 0.0
        for batch in train_loader:
            with accelerator.accumulate(model):
                loss = loss_fn(model(batch["features"]), batch["label"])
                accelerator.backward(loss)
                optimizer.step()
                optimizer.zero_grad()
            running += loss.item()
        acc = evaluate(accelerator, model, val_loader)
        accelerator.print(f"epoch {epoch}: loss {running / len(train_loader):.4f} val_acc {acc:.4f}")


if __name__ == "__main__":
    main()
