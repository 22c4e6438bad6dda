"""Pretrain an encoder on plentiful synthetic spectra, then fit a small head on a scarce target task."""
import argparse
import tempfile
from pathlib import Path

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset

BINS = 64


def peaks_to_spectrum(centers, widths, heights):
    axis = torch.linspace(0, 1, BINS)
    shape = torch.exp(-((axis - centers[..., None]) / widths[..., None]) ** 2)
    return (heights[..., None] * shape).sum(dim=1)


def make_spectra(n, gen, noise=0.25):
    centers = torch.rand(n, 3, generator=gen) * 0.8 + 0.1
    widths = torch.rand(n, 3, generator=gen) * 0.04 + 0.02
    heights = torch.rand(n, 3, generator=gen) + 0.5
    x = peaks_to_spectrum(centers, widths, heights) + noise * torch.randn(n, BINS, generator=gen)
    return x, centers.sort(dim=1).values


class SpectrumEncoder(nn.Module):
    def __init__(self, dim=24):
        super().__init__()
        self.conv = nn.Sequential(
            nn.Conv1d(1, 12, 7, stride=2, padding=3), nn.ReLU(),
            nn.Conv1d(12, 24, 5, stride=2, padding=2), nn.ReLU(),
        )
        self.proj = nn.Linear(24 * (BINS // 4), dim)

    def forward(self, x):
        return self.proj(self.conv(x[:, None]).flatten(1))


class PeakRegressor(nn.Module):
    """Pretraining model: where are the three peaks?"""

    def __init__(self):
        super().__init__()
        self.encoder = SpectrumEncoder()
        self.head = nn.Sequential(nn.ReLU(), nn.Linear(24, 3))

    def forward(self, x):
        return self.head(self.encoder(x))


class GapClassifier(nn.Module):
    """Target model: is the first gap wider than the second?"""

    def __init__(self):
        super().__init__()
        self.backbone = SpectrumEncoder()
        self.classifier = nn.Sequential(nn.ReLU(), nn.Linear(24, 2))

    def forward(self, x):
        return self.classifier(self.backbone(x))


def pretrain(path, epochs):
    gen = torch.Generator().manual_seed(1)
    loader = DataLoader(TensorDataset(*make_spectra(6000, gen)), batch_size=64, shuffle=True)
    model = PeakRegressor()
    opt = torch.optim.Adam(model.parameters(), lr=2e-3)
    for epoch in range(epochs):
        total = 0.0
        for x, y in loader:
            loss = F.mse_loss(model(x), y)
            opt.zero_grad()
            loss.backward()
            opt.step()
            total += loss.item()
        print(f"[pretrain] epoch {epoch + 1} mse {total / len(loader):.5f}")
    torch.save(model.state_dict(), path)


def finetune(path, epochs):
    gen = torch.Generator().manual_seed(2)
    x, c = make_spectra(1500, gen)
    y = ((c[:, 1] - c[:, 0]) > (c[:, 2] - c[:, 1])).long()
    loader = DataLoader(TensorDataset(x[:300], y[:300]), batch_size=30, shuffle=True)

    model = GapClassifier()
    checkpoint = torch.load(path)
    model.load_state_dict(checkpoint, strict=False)
    for p in model.backbone.parameters():
        p.requires_grad = False
    opt = torch.optim.Adam(model.classifier.parameters(), lr=1e-2)
    for epoch in range(epochs):
        model.train()
        for xb, yb in loader:
            loss = F.cross_entropy(model(xb), yb)
            opt.zero_grad()
            loss.backward()
            opt.step()
        model.eval()
        with torch.no_grad():
            acc = (model(x[300:]).argmax(1) == y[300:]).float().mean().item()
        if epoch % 10 == 9:
            print(f"[finetune] epoch {epoch + 1} loss {loss.item():.4f} test acc {acc:.3f}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--pretrain-epochs", type=int, default=7)
    parser.add_argument("--finetune-epochs", type=int, default=40)
    args = parser.parse_args()
    torch.manual_seed(9)
    with tempfile.TemporaryDirectory() as folder:
        ckpt = Path(folder) / "encoder.pt"
        pretrain(ckpt, args.pretrain_epochs)
        finetune(ckpt, args.finetune_epochs)
