"""Two tasks from one radar trace: ship class (5) and speed. Shared encoder, one optimizer for the encoder and one for the heads."""
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(43)
rng = np.random.default_rng(43)
LEN = 40


def traces(n):
    kind = rng.integers(0, 5, n)
    speed = rng.uniform(2, 30, n)
    t = np.arange(LEN)
    hull = np.array([0.6, 0.9, 1.2, 1.5, 1.8])[kind]
    wob = np.array([3, 5, 2, 6, 4])[kind]
    centre = rng.uniform(12, 28, n)
    env = np.exp(-0.5 * ((t - centre[:, None]) / (2 + 2.5 * hull[:, None])) ** 2)
    x = env * (1 + 0.5 * np.cos(2 * np.pi * wob[:, None] * t / LEN))
    doppler = np.sin(2 * np.pi * (0.01 + 0.006 * speed[:, None]) * t + rng.uniform(0, 6.28, (n, 1)))
    both = np.stack([x + 0.12 * rng.normal(size=x.shape), doppler + 0.25 * rng.normal(size=x.shape)], 1)
    return torch.tensor(both, dtype=torch.float32), torch.tensor(kind), torch.tensor((speed - 16) / 8, dtype=torch.float32)


train_loader = DataLoader(TensorDataset(*traces(4000)), batch_size=50, shuffle=True)
val_x, val_kind, val_speed = traces(800)


class Encoder(nn.Module):
    def __init__(self, out=64):
        super().__init__()
        self.conv = nn.Sequential(
            nn.Conv1d(2, 16, 7, stride=2, padding=3), nn.ReLU(),
            nn.Conv1d(16, 24, 5, stride=2, padding=2), nn.ReLU(),
        )
        self.fc = nn.Linear(24 * 10, out)

    def forward(self, x):
        return F.relu(self.fc(self.conv(x).flatten(1)))


encoder = Encoder()
heads = nn.ModuleDict({"kind": nn.Linear(64, 5), "speed": nn.Sequential(nn.Linear(64, 32), nn.ReLU(), nn.Linear(32, 1))})
opt_encoder = torch.optim.SGD(encoder.parameters(), lr=0.05, momentum=0.9)
opt_heads = torch.optim.SGD(heads.parameters(), lr=0.05, momentum=0.9)
SPEED_WEIGHT = 0.7


def validate():
    encoder.eval()
    heads.eval()
    with torch.no_grad():
        h = encoder(val_x)
        acc = (heads["kind"](h).argmax(1) == val_kind).float().mean().item()
        err = (heads["speed"](h).squeeze(1) - val_speed).abs().mean().item() * 8
    encoder.train()
    heads.train()
    return acc, err


print(f"baseline: class accuracy 0.20, speed error {val_speed.abs().mean().item() * 8:.2f} kn")
for epoch in range(1, 10):
    sums = np.zeros(2)
    for x, kind, speed in train_loader:
        h = encoder(x)
        loss_kind = F.cross_entropy(heads["kind"](h), kind)
        loss_speed = F.mse_loss(heads["speed"](h).squeeze(1), speed)
        loss = loss_kind + SPEED_WEIGHT * loss_speed

        opt_encoder.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(encoder.parameters(), 2.0)
        opt_encoder.step()
        opt_heads.step()
        sums += [loss_kind.item(), loss_speed.item()]
    acc, err = validate()
    a, b = sums / len(train_loader)
    print(f"epoch {epoch:2d} kind loss {a:.4f} speed loss {b:.4f} | val class accuracy {acc:.3f} speed error {err:.2f} kn")
