"""Waveform family classification (sine / square / saw / chirp) from noisy two-channel recordings."""
import argparse
from pathlib import Path

import numpy as np
import torch
import yaml
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

FAMILIES = ["sine", "square", "saw", "chirp"]


def load_config(path):
    with open(path) as fh:
        return yaml.safe_load(fh)


def make_waves(n, length, noise, rng):
    t = np.arange(length) / length
    xs = np.empty((n, length, 2), dtype=np.float32)
    ys = rng.integers(0, len(FAMILIES), n)
    for i, k in enumerate(ys):
        f = rng.uniform(2.0, 4.0)
        ph = rng.uniform(0, 1)
        u = (f * t + ph) % 1.0
        if k == 0:
            w = np.sin(2 * np.pi * u)
        elif k == 1:
            w = np.where(u < 0.5, 0.8, -0.8)
        elif k == 2:
            w = 2.4 * u - 1.2
        else:
            w = np.sin(2 * np.pi * (f * 0.5 * t + 3.5 * t * t + ph))
        xs[i, :, 0] = w + noise * rng.standard_normal(length)
        xs[i, :, 1] = np.gradient(w) * 3 + noise * rng.standard_normal(length)
    return torch.from_numpy(xs), torch.from_numpy(ys)


class WaveNet(nn.Module):
    def __init__(self, channels, classes, hidden, layers, dropout):
        super().__init__()
        self.stem = nn.Sequential(nn.Linear(channels, hidden), nn.ReLU())
        self.rnn = nn.GRU(hidden, hidden, num_layers=layers, dropout=dropout)
        self.head = nn.Sequential(nn.LayerNorm(hidden), nn.Dropout(dropout), nn.Linear(hidden, classes))

    def forward(self, waves):
        h = self.stem(waves)
        states, _ = self.rnn(h)
        return self.head(states[:, -1])


def accuracy(model, loader):
    model.eval()
    good = total = 0
    with torch.no_grad():
        for xb, yb in loader:
            good += (model(xb).argmax(-1) == yb).sum().item()
            total += len(yb)
    return good / total


def build_optimizer(model, oc):
    kinds = {"adam": torch.optim.Adam, "adamw": torch.optim.AdamW, "sgd": torch.optim.SGD}
    return kinds[oc["name"]](model.parameters(), lr=oc["lr"])


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--config", default=str(Path(__file__).with_name("config.yaml")))
    cfg = load_config(ap.parse_args().config)
    torch.manual_seed(cfg["seed"])
    rng = np.random.default_rng(cfg["seed"])
    dc, oc = cfg["data"], cfg["optim"]

    train = TensorDataset(*make_waves(dc["n_train"], dc["length"], dc["noise"], rng))
    test = TensorDataset(*make_waves(dc["n_test"], dc["length"], dc["noise"], rng))
    train_loader = DataLoader(train, batch_size=oc["batch_size"], shuffle=True)
    test_loader = DataLoader(test, batch_size=oc["batch_size"])

    model = WaveNet(2, len(FAMILIES), **cfg["model"])
    opt = build_optimizer(model, oc)
    loss_fn = nn.CrossEntropyLoss()

    for epoch in range(oc["epochs"]):
        model.train()
        losses = []
        for xb, yb in train_loader:
            opt.zero_grad()
            loss = loss_fn(model(xb), yb)
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), oc["clip"])
            opt.step()
            losses.append(loss.item())
        if (epoch + 1) % cfg["log_every"] == 0:
            print(f"[{epoch + 1:02d}/{oc['epochs']}] loss={np.mean(losses):.4f} test_acc={accuracy(model, test_loader):.3f}")


if __name__ == "__main__":
    main()
