"""SimCLR-style pre-training on digit images; a linear probe judges the embedding."""
import argparse

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from sklearn.datasets import load_digits
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split


def augment(x):
    """Random shift by up to one pixel, brightness and pixel noise for (N, 1, 8, 8)."""
    n = x.shape[0]
    padded = F.pad(x, (1, 1, 1, 1))
    dx, dy = torch.randint(0, 3, (2, n))
    rows = dy[:, None] + torch.arange(8)
    cols = dx[:, None] + torch.arange(8)
    out = padded[torch.arange(n)[:, None, None], 0, rows[:, :, None], cols[:, None, :]].unsqueeze(1)
    out = out * torch.empty(n, 1, 1, 1).uniform_(0.7, 1.3)
    return out + 0.15 * torch.randn_like(out)


class Encoder(nn.Module):
    def __init__(self, dim=16):
        super().__init__()
        self.conv1 = nn.Conv2d(1, 16, 3, padding=1)
        self.conv2 = nn.Conv2d(16, 32, 3, padding=1, stride=2)
        self.fc = nn.Linear(32 * 16, dim)
        self.projector = nn.Sequential(nn.ReLU(), nn.Linear(dim, 32))

    def embed(self, x):
        h = F.relu(self.conv2(F.relu(self.conv1(x))))
        return self.fc(h.flatten(1))

    def forward(self, x):
        return self.projector(self.embed(x))


class NTXent(nn.Module):
    def __init__(self, temperature):
        super().__init__()
        self.temperature = temperature

    def forward(self, za, zb):
        n = za.shape[0]
        z = F.normalize(torch.cat([za, zb]), dim=1)
        sim = z @ z.t() * self.temperature
        sim.fill_diagonal_(float("-inf"))
        positives = torch.cat([torch.arange(n, 2 * n), torch.arange(n)])
        return F.cross_entropy(sim, positives)


@torch.no_grad()
def linear_probe(encoder, x_train, y_train, x_test, y_test):
    encoder.eval()
    clf = LogisticRegression(max_iter=500)
    clf.fit(encoder.embed(x_train).numpy(), y_train)
    score = clf.score(encoder.embed(x_test).numpy(), y_test)
    encoder.train()
    return score


@torch.no_grad()
def retrieval(encoder, x):
    """How often the nearest neighbour among the second views is the same image."""
    a, b = F.normalize(encoder(augment(x)), dim=1), F.normalize(encoder(augment(x)), dim=1)
    return ((a @ b.t()).argmax(1) == torch.arange(len(x))).float().mean().item()


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--temperature", type=float, default=0.1)
    p.add_argument("--epochs", type=int, default=25)
    p.add_argument("--batch-size", type=int, default=128)
    p.add_argument("--lr", type=float, default=2e-3)
    args = p.parse_args()

    torch.manual_seed(8)
    x, y = load_digits(return_X_y=True)
    x = torch.tensor(x / 16.0, dtype=torch.float32).view(-1, 1, 8, 8)
    idx_train, idx_test = train_test_split(np.arange(len(y)), test_size=0.3, stratify=y, random_state=8)
    x_train, x_test, y_train, y_test = x[idx_train], x[idx_test], y[idx_train], y[idx_test]

    encoder = Encoder()
    criterion = NTXent(args.temperature)
    opt = torch.optim.AdamW(encoder.parameters(), lr=args.lr, weight_decay=1e-4)
    for epoch in range(1, args.epochs + 1):
        order = torch.randperm(len(x_train))
        total, batches = 0.0, 0
        for i in range(0, len(order) - args.batch_size + 1, args.batch_size):
            xb = x_train[order[i:i + args.batch_size]]
            loss = criterion(encoder(augment(xb)), encoder(augment(xb)))
            opt.zero_grad()
            loss.backward()
            opt.step()
            total, batches = total + loss.item(), batches + 1
        if epoch % 5 == 0:
            probe = linear_probe(encoder, x_train, y_train, x_test, y_test)
            print(f"epoch {epoch:3d}  nt-xent {total / batches:.4f}  retrieval {retrieval(encoder, x_test):.3f}  probe acc {probe:.4f}")


if __name__ == "__main__":
    main()
