"""Linear evaluation of a pretrained text encoder; the checkpoint was written by a wrapper used for pretraining."""
import tempfile
from pathlib import Path

import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

VOCAB, TOPICS, LENGTH = 300, 10, 24


def documents(n, seed, topics=None):
    rng = np.random.default_rng(seed)
    table = np.random.default_rng(1).dirichlet(np.full(VOCAB, 0.08), TOPICS)
    topic = rng.integers(0, TOPICS, n) if topics is None else rng.choice(topics, n)
    return torch.tensor(np.stack([rng.choice(VOCAB, LENGTH, p=0.35 * table[k] + 0.65 / VOCAB) for k in topic])), torch.tensor(topic)


class TextEncoder(nn.Module):
    def __init__(self, dim=16):
        super().__init__()
        self.embed = nn.Embedding(VOCAB, dim)
        self.mix = nn.Sequential(nn.Linear(dim, dim), nn.ReLU(), nn.Linear(dim, dim), nn.ReLU())

    def forward(self, tokens):
        return self.mix(self.embed(tokens).mean(dim=1))


class Pretrainer(nn.Module):
    def __init__(self):
        super().__init__()
        self.module = TextEncoder()
        self.topic = nn.Linear(16, TOPICS)

    def forward(self, tokens):
        return self.topic(self.module(tokens))


class Probe(nn.Module):
    def __init__(self, n_classes):
        super().__init__()
        self.encoder = TextEncoder()
        self.head = nn.Linear(16, n_classes)

    def forward(self, tokens):
        return self.head(self.encoder(tokens))


def run_epochs(model, optimizer, data, epochs):
    loader = DataLoader(TensorDataset(*data), batch_size=64, shuffle=True)
    for _ in range(epochs):
        model.train()
        for x, y in loader:
            loss = nn.functional.cross_entropy(model(x), y)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
    return loss.item()


@torch.no_grad()
def score(model, data):
    model.eval()
    return (model(data[0]).argmax(1) == data[1]).float().mean().item()


def main():
    torch.manual_seed(2)
    checkpoint = Path(tempfile.mkdtemp()) / "encoder.pt"
    pretrainer = Pretrainer()
    run_epochs(pretrainer, torch.optim.Adam(pretrainer.parameters(), lr=5e-3), documents(4000, 0), 8)
    print(f"pretraining accuracy {score(pretrainer, documents(1000, 5)):.3f}")
    torch.save(pretrainer.state_dict(), checkpoint)

    def merged(data):
        return data[0], data[1] % 5

    train, test = merged(documents(1000, 2)), merged(documents(1000, 3))
    probe = Probe(5)
    probe.load_state_dict(torch.load(checkpoint), strict=False)
    probe.encoder.requires_grad_(False)
    optimizer = torch.optim.Adam(probe.head.parameters(), lr=1e-2)
    for round_ in range(1, 6):
        loss = run_epochs(probe, optimizer, train, 4)
        print(f"epoch {4 * round_} loss {loss:.4f} train {score(probe, train):.3f} test {score(probe, test):.3f}")


if __name__ == "__main__":
    main()
