"""Probe: a speech encoder trained on plenty of words, reused for accents with little data.

Stage 1 trains encoder + word head on 20 classes. Stage 2 reuses the encoder as it is (no
gradient) and fits a linear probe for 3 accents on 90 labelled clips.
"""
import os
import tempfile

import torch
from torch import nn
import torch.nn.functional as F

N_MEL, N_FRAMES = 16, 24


def synth(n, g, words=20, accents=3):
    w = torch.randint(words, (n,), generator=g)
    a = torch.randint(accents, (n,), generator=g)
    t = torch.linspace(0, 1, N_FRAMES)
    m = torch.arange(N_MEL).float()
    centre = 2 + (w.float() % 5)[:, None] * 2.5 + (w.float() // 5)[:, None] * torch.sin(6.28 * t) + 1.2 * (a.float() - 1)[:, None] * t
    spec = torch.exp(-((m[None, :, None] - centre[:, None, :]) ** 2) / 2)
    return spec + 0.35 * torch.randn(n, N_MEL, N_FRAMES, generator=g), w, a


class Encoder(nn.Module):
    def __init__(self, dim=64):
        super().__init__()
        self.c1 = nn.Conv1d(N_MEL, 48, 5, padding=2)
        self.c2 = nn.Conv1d(48, dim, 5, stride=2, padding=2)
        self.b1, self.b2 = nn.BatchNorm1d(48), nn.BatchNorm1d(dim)
        self.fc = nn.Linear(dim * 3, dim)

    def forward(self, x):
        h = F.relu(self.b1(self.c1(x)))
        h = F.relu(self.b2(self.c2(h)))
        return torch.tanh(self.fc(F.adaptive_avg_pool1d(h, 3).flatten(1)))


class WordModel(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder = Encoder()
        self.head = nn.Linear(64, 60)

    def forward(self, x):
        return self.head(self.encoder(x))


class Probe(nn.Module):
    def __init__(self, state):
        super().__init__()
        self.encoder = Encoder()
        own = {k.removeprefix("encoder."): v for k, v in state.items() if k.startswith("encoder.")}
        self.encoder.load_state_dict(own)
        self.encoder.requires_grad_(False)
        self.linear = nn.Linear(64, 3)

    def train(self, mode=True):
        super().train(mode)
        self.encoder.eval()          # running statistics stay as they were
        return self

    def forward(self, x):
        with torch.no_grad():
            z = self.encoder(x)
        return self.linear(z)


def pretrain(path):
    g = torch.Generator().manual_seed(0)
    x, w, a = synth(3000, g)
    y = w * 3 + a                    # words as spoken: 60 classes
    model = WordModel()
    opt = torch.optim.Adam(model.parameters(), lr=2e-3)
    for epoch in range(6):
        for idx in torch.randperm(len(x)).split(64):
            loss = F.cross_entropy(model(x[idx]), y[idx])
            opt.zero_grad(); loss.backward(); opt.step()
        print(f"pretraining epoch {epoch} loss {loss.item():.3f}")
    torch.save(model.state_dict(), path)


def main():
    torch.manual_seed(0)
    path = os.path.join(tempfile.mkdtemp(), "words.pt")
    pretrain(path)
    g = torch.Generator().manual_seed(50)
    x, _, a = synth(90, g)
    xt, _, at = synth(900, g)
    probe = Probe(torch.load(path))
    opt = torch.optim.SGD(probe.linear.parameters(), lr=0.5, momentum=0.9)
    for epoch in range(120):
        probe.train()
        for idx in torch.randperm(len(x)).split(30):
            loss = F.cross_entropy(probe(x[idx]), a[idx])
            opt.zero_grad(); loss.backward(); opt.step()
    probe.eval()
    with torch.no_grad():
        acc = (probe(xt).argmax(1) == at).float().mean().item()
    print(f"probe loss {loss.item():.3f} accent accuracy on new clips {acc:.3f}; chance {at.bincount().max().item() / len(at):.3f}")


if __name__ == "__main__":
    main()
