"""Stage 1 trains a sound-event network on a large labelled set, stage 2 reuses its encoder for a task with few labels."""
import io

import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(21)
LEN = 96


def waveform(kind, rng):
    t = np.linspace(0, 1, LEN)
    f0 = rng.uniform(6, 9)
    sweep = [0, 8, -4, 0, 14][kind]
    phase = 2 * np.pi * (f0 * t + 0.5 * sweep * t ** 2) + rng.uniform(0, 6.28)
    x = np.sin(phase)
    if kind == 3:
        x = x * (1 + 0.9 * np.sin(2 * np.pi * 3 * t + rng.uniform(0, 6.28)))
    return (x + rng.normal(0, 0.5, LEN)).astype(np.float32)


def make_set(n, kinds, seed):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, len(kinds), n)
    x = np.stack([waveform(kinds[k], rng) for k in y])
    return torch.from_numpy(x).unsqueeze(1), torch.from_numpy(y)


class Encoder(nn.Module):
    def __init__(self, width=24):
        super().__init__()
        self.layers = nn.Sequential(
            nn.Conv1d(1, width, 9, stride=2, padding=4), nn.ReLU(),
            nn.Conv1d(width, width, 7, stride=2, padding=3), nn.ReLU(),
            nn.Conv1d(width, 2 * width, 5, stride=2, padding=2), nn.ReLU(),
        )
        self.width = 2 * width

    def forward(self, x):
        return self.layers(x).amax(-1)


class EventNet(nn.Module):
    def __init__(self, encoder, classes):
        super().__init__()
        self.encoder = encoder
        self.head = nn.Linear(encoder.width, classes)

    def forward(self, x):
        return self.head(self.encoder(x))


def accuracy(net, x, y):
    net.eval()
    with torch.no_grad():
        return (net(x).argmax(1) == y).float().mean().item()


def fit(net, data, held_out, epochs, lr, tag):
    params = [p for p in net.parameters() if p.requires_grad]
    print(f"{tag}: {sum(p.numel() for p in params)} trainable parameters")
    optimizer = torch.optim.Adam(params, lr=lr)
    loader = DataLoader(TensorDataset(*data), batch_size=32, shuffle=True)
    for epoch in range(epochs):
        net.train()
        total = 0.0
        for xb, yb in loader:
            loss = nn.functional.cross_entropy(net(xb), yb)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            total += loss.item() * len(xb)
        if epochs <= 10 or epoch % 10 == 9:
            print(f"{tag} epoch {epoch + 1}: loss {total / len(data[0]):.4f} held-out acc {accuracy(net, *held_out):.3f}")


# ---- stage 1: four event kinds, plenty of labels
source = EventNet(Encoder(), 4)
fit(source, make_set(2400, [0, 1, 2, 3], 1), make_set(400, [0, 1, 2, 3], 2), epochs=6, lr=2e-3, tag="source")
checkpoint = io.BytesIO()
torch.save({"model": source.state_dict(), "classes": 4}, checkpoint)

# ---- stage 2: a fast chirp against a slow one, 60 labels
checkpoint.seek(0)
saved = torch.load(checkpoint, weights_only=True)
encoder = Encoder()
encoder.load_state_dict(saved["model"], strict=False)
for p in encoder.parameters():
    p.requires_grad = False
target = EventNet(encoder, 2)
fit(target, make_set(60, [1, 4], 3), make_set(600, [1, 4], 4), epochs=40, lr=5e-3, tag="target")
