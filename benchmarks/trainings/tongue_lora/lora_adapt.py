"""Adapt a pre-trained character classifier to a shifted dialect with low-rank adapters (LoRA)."""
import math

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

LETTERS, LENGTH, TONGUES = 20, 30, 5


def corpus(n, seed, dialect):
    """Each tongue has its own letter chain; the dialect exchanges some of the letters."""
    rng = np.random.default_rng(seed)
    chain = np.random.default_rng(7).dirichlet(np.ones(LETTERS) * 0.4, (TONGUES, LETTERS))
    cum = chain.cumsum(-1)
    y = rng.integers(0, TONGUES, n)
    text = np.zeros((n, LENGTH), dtype=np.int64)
    text[:, 0] = rng.integers(0, LETTERS, n)
    for t in range(1, LENGTH):
        u = rng.random((n, 1))
        text[:, t] = (u > cum[y, text[:, t - 1]]).sum(1).clip(max=LETTERS - 1)
    if dialect:
        swap = np.arange(LETTERS)
        swap[:10] = np.roll(swap[:10], 3)
        text = swap[text]
    return torch.from_numpy(text), torch.from_numpy(y)


class TongueNet(nn.Module):
    def __init__(self, dim=48):
        super().__init__()
        self.emb = nn.Embedding(LETTERS, dim)
        self.inner = nn.Linear(2 * dim, 2 * dim)
        self.outer = nn.Linear(2 * dim, dim)
        self.head = nn.Linear(dim, TONGUES)

    def forward(self, text):
        e = self.emb(text)
        pairs = torch.cat([e[:, :-1], e[:, 1:]], dim=-1)
        h = F.relu(self.outer(F.relu(self.inner(pairs))))
        return self.head(h.mean(1))


class LoRALinear(nn.Module):
    """Frozen linear layer plus a trained low-rank update that starts at zero."""

    def __init__(self, base, rank=6, alpha=12):
        super().__init__()
        self.base = base.requires_grad_(False)
        self.down = nn.Parameter(torch.empty(rank, base.in_features))
        self.up = nn.Parameter(torch.zeros(base.out_features, rank))
        nn.init.kaiming_uniform_(self.down, a=math.sqrt(5))
        self.scale = alpha / rank

    def forward(self, x):
        return self.base(x) + self.scale * (x @ self.down.t() @ self.up.t())


def train(model, params, x, y, epochs, lr, tag, x_val, y_val):
    opt = torch.optim.AdamW(params, lr=lr)
    for epoch in range(epochs):
        model.train()
        total = 0.0
        for idx in torch.randperm(len(x)).split(64):
            loss = F.cross_entropy(model(x[idx]), y[idx])
            opt.zero_grad()
            loss.backward()
            opt.step()
            total += loss.item() * len(idx)
        print(f"{tag} epoch {epoch} loss {total / len(x):.4f} val acc {accuracy(model, x_val, y_val):.4f}")


@torch.no_grad()
def accuracy(model, x, y):
    model.eval()
    return (model(x).argmax(1) == y).float().mean().item()


def main():
    torch.manual_seed(15)
    base_val, dialect_val = corpus(400, 10, False), corpus(400, 11, True)
    model = TongueNet()
    train(model, model.parameters(), *corpus(2000, 0, False), 6, 3e-3, "base", *base_val)
    print(f"base model on the dialect: {accuracy(model, *dialect_val):.4f}")

    model.requires_grad_(False)
    model.inner, model.outer = LoRALinear(model.inner), LoRALinear(model.outer)
    trainable = [p for p in model.parameters() if p.requires_grad]
    total = sum(p.numel() for p in model.parameters())
    print(f"adapters: {sum(p.numel() for p in trainable)} of {total} weights are trained")
    train(model, trainable, *corpus(800, 1, True), 12, 1e-2, "lora", *dialect_val)


if __name__ == "__main__":
    main()
