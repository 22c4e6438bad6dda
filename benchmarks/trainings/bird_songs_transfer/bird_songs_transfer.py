# Pretrain on many bird species, then reuse the frozen backbone for a small two-habitat data set.
import argparse
import io

import numpy as np
import torch
import torch.nn as nn
import torch.optim as optim


def songs(n, n_species, seed):
    """fake sonograms, 12 bands x 20 frames, flattened; habitat shifts the sweep's slope"""
    rng = np.random.default_rng(seed)
    sp = rng.integers(0, n_species, n)
    hab = rng.integers(0, 2, n)
    t = np.linspace(0, 1, 20)
    band = np.arange(12)
    c = 1.5 + (sp % 6)[:, None] * 1.6 + np.where(hab, 2.2, -2.2)[:, None] * (t - 0.5)
    amp = 0.6 + 0.4 * np.sin(2 * np.pi * (1 + sp // 6)[:, None] * t)
    img = amp[:, None, :] * np.exp(-((band[None, :, None] - c[:, None, :]) ** 2) / 1.3)
    img = img + rng.normal(0, 0.30, img.shape)
    return torch.tensor(img.reshape(n, -1), dtype=torch.float32), torch.tensor(sp), torch.tensor(hab)


class Backbone(nn.Module):
    def __init__(self, d=240, h=24):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(d, 128), nn.ReLU(), nn.Linear(128, 64), nn.ReLU(), nn.Linear(64, h), nn.ReLU())

    def forward(self, x):
        return self.layers(x)


class SpeciesNet(nn.Module):
    def __init__(self, n_out):
        super().__init__()
        self.backbone = Backbone()
        self.classifier = nn.Linear(24, n_out)

    def forward(self, x):
        return self.classifier(self.backbone(x))


class HabitatNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.features = Backbone()
        self.out = nn.Linear(24, 2)

    def forward(self, x):
        return self.out(self.features(x))


def fit(model, params, x, y, epochs, lr, bs=64):
    opt = optim.Adam(params, lr=lr)
    crit = nn.CrossEntropyLoss()
    for e in range(epochs):
        model.train()
        order = torch.randperm(len(x))
        tot = 0
        for i in range(0, len(x), bs):
            b = order[i:i + bs]
            opt.zero_grad()
            loss = crit(model(x[b]), y[b])
            loss.backward()
            opt.step()
            tot += loss.item() * len(b)
        if e % max(1, epochs // 5) == 0:
            print(f"   epoch {e} loss {tot / len(x):.4f}")


def accuracy(model, x, y):
    model.eval()
    with torch.no_grad():
        return (model(x).argmax(1) == y).float().mean().item()


if __name__ == "__main__":
    ap = argparse.ArgumentParser()
    ap.add_argument("--species", type=int, default=24)
    ap.add_argument("--seed", type=int, default=0)
    a = ap.parse_args()
    torch.manual_seed(a.seed)

    x, sp, hab = songs(5000, a.species, 1)
    big = SpeciesNet(a.species * 2)
    print("pretraining on species and song type")
    fit(big, big.parameters(), x, sp * 2 + hab, epochs=15, lr=1e-3)
    buf = io.BytesIO()
    torch.save(big.state_dict(), buf)
    buf.seek(0)

    x2, _, h2 = songs(200, a.species, 2)
    x3, _, h3 = songs(1500, a.species, 3)
    small = HabitatNet()
    small.load_state_dict(torch.load(buf), strict=False)
    for p in small.features.parameters():
        p.requires_grad = False
    print("habitat head")
    fit(small, small.out.parameters(), x2, h2, epochs=150, lr=1e-2, bs=50)
    print(f"habitat accuracy: train {accuracy(small, x2, h2):.3f} new recordings {accuracy(small, x3, h3):.3f}")
