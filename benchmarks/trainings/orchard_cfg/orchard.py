"""Fruit ripeness from near-infrared spectra. Settings live in a dataclass, overridable on the command line."""
import argparse
from dataclasses import asdict, dataclass, fields

import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset


@dataclass
class Settings:
    n_train: int = 1600
    n_val: int = 400
    bands: int = 80
    epochs: int = 12
    batch_size: int = 32
    lr: float = 1e-3
    seed: int = 4


def parse_settings() -> Settings:
    parser = argparse.ArgumentParser()
    for f in fields(Settings):
        parser.add_argument("--" + f.name.replace("_", "-"), type=f.type, default=f.default)
    return Settings(**vars(parser.parse_args()))


def record_spectra(n, bands, rng):
    """Raw sensor counts: baseline + water peak + sugar peak (class dependent) + drift."""
    wave = np.linspace(0, 1, bands)
    ripeness = rng.integers(0, 4, n)
    base = 1800 + 300 * wave
    water = 500 * np.exp(-((wave - 0.35) ** 2) / 0.01)
    sugar = np.exp(-((wave - 0.7) ** 2) / 0.004)
    spectra = base + rng.normal(1, 0.1, (n, 1)) * water
    spectra = spectra + (100 * ripeness[:, None] + rng.normal(0, 15, (n, 1))) * sugar
    spectra += rng.normal(0, 25, (n, bands))
    return spectra.astype("float32"), ripeness


class SpectraDataset(Dataset):
    def __init__(self, spectra, labels, mean=None, std=None):
        if mean is None:
            mean, std = spectra.mean(axis=0), spectra.std(axis=0)
        self.mean, self.std = mean, std
        self.x = torch.from_numpy((spectra - mean) / std)
        self.y = torch.from_numpy(labels)

    def __len__(self):
        return len(self.y)

    def __getitem__(self, i):
        return self.x[i], self.y[i]


class SpectraNet(nn.Module):
    def __init__(self, bands):
        super().__init__()
        self.features = nn.Sequential(
            nn.Conv1d(1, 12, 7, padding=3), nn.ReLU(), nn.MaxPool1d(2),
            nn.Conv1d(12, 24, 5, padding=2), nn.ReLU(), nn.MaxPool1d(2),
        )
        self.classifier = nn.Sequential(nn.Flatten(), nn.Linear(24 * (bands // 4), 48), nn.ReLU(), nn.Linear(48, 4))

    def forward(self, x):
        return self.classifier(self.features(x.unsqueeze(1)))


def accuracy(model, loader):
    model.eval()
    good = 0
    with torch.no_grad():
        for x, y in loader:
            good += (model(x).argmax(1) == y).sum().item()
    return good / len(loader.dataset)


def main():
    cfg = parse_settings()
    print(asdict(cfg))
    torch.manual_seed(cfg.seed)
    rng = np.random.default_rng(cfg.seed)
    train_spectra, train_labels = record_spectra(cfg.n_train, cfg.bands, rng)
    val_spectra, val_labels = record_spectra(cfg.n_val, cfg.bands, rng)

    train_set = SpectraDataset(train_spectra, train_labels)
    val_set = SpectraDataset(val_spectra, val_labels, mean=train_spectra.mean(), std=train_spectra.std())
    train_loader = DataLoader(train_set, batch_size=cfg.batch_size, shuffle=True)
    val_loader = DataLoader(val_set, batch_size=200)

    model = SpectraNet(cfg.bands)
    opt = torch.optim.AdamW(model.parameters(), lr=cfg.lr)
    criterion = nn.CrossEntropyLoss()
    for epoch in range(cfg.epochs):
        model.train()
        losses, good = [], 0
        for x, y in train_loader:
            opt.zero_grad()
            out = model(x)
            loss = criterion(out, y)
            loss.backward()
            opt.step()
            losses.append(loss.item())
            good += (out.argmax(1) == y).sum().item()
        print(f"epoch {epoch + 1:2d}/{cfg.epochs}  loss {np.mean(losses):.4f}  train acc {good / len(train_set):.3f}  "
              f"val acc {accuracy(model, val_loader):.3f}")


if __name__ == "__main__":
    main()
