"""Supervised contrastive features with a momentum encoder and a queue of keys."""

import copy

import torch
import torch.nn.functional as F
from sklearn.datasets import load_digits
from sklearn.neighbors import KNeighborsClassifier
from torch import nn


class Encoder(nn.Module):
    def __init__(self, dim=8):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(64, 96), nn.ReLU(), nn.Linear(96, 48), nn.ReLU(), nn.Linear(48, dim))

    def forward(self, x):
        return F.normalize(self.net(x), dim=1)


class KeyQueue:
    """The newest keys and their classes, oldest out first."""

    def __init__(self, size, dim):
        self.keys = F.normalize(torch.randn(size, dim), dim=1)
        self.labels = torch.full((size,), -1)

    def push(self, keys, labels):
        self.keys = torch.cat([keys, self.keys])[: len(self.keys)]
        self.labels = torch.cat([labels, self.labels])[: len(self.labels)]


class MomentumContrast:
    def __init__(self, momentum=0.95, temperature=0.1, queue=256, dim=8):
        self.query = Encoder(dim)
        self.key = copy.deepcopy(self.query).requires_grad_(False)
        self.queue = KeyQueue(queue, dim)
        self.momentum, self.temperature = momentum, temperature

    def loss(self, view_a, view_b, labels):
        q = self.query(view_a)
        with torch.no_grad():
            k = self.key(view_b)
        bank = torch.cat([k, self.queue.keys])
        bank_labels = torch.cat([labels, self.queue.labels])
        logits = q @ bank.T / self.temperature
        positive = (labels[:, None] == bank_labels[None, :]).float()
        log_prob = logits - logits.logsumexp(dim=1, keepdim=True)
        loss = -(positive * log_prob).sum(1) / positive.sum(1)
        self.queue.push(k, labels)
        return loss.mean()

    @torch.no_grad()
    def update_key_encoder(self):
        for k, q in zip(self.key.parameters(), self.query.parameters()):
            k.mul_(self.momentum).add_(q, alpha=1 - self.momentum)


def jitter(x):
    return x + 0.15 * torch.randn_like(x)


@torch.no_grad()
def knn_score(encoder, x_train, y_train, x_test, y_test):
    encoder.eval()
    knn = KNeighborsClassifier(7).fit(encoder(x_train).numpy(), y_train.numpy())
    score = knn.score(encoder(x_test).numpy(), y_test.numpy())
    encoder.train()
    return score


def main():
    torch.manual_seed(18)
    digits = load_digits()
    order = torch.randperm(len(digits.target))
    x = torch.tensor(digits.data / 8.0 - 1.0, dtype=torch.float32)[order]
    y = torch.tensor(digits.target)[order]
    split = x[:900], y[:900], x[900:], y[900:]
    moco = MomentumContrast()
    optimizer = torch.optim.SGD(moco.query.parameters(), lr=0.1, momentum=0.9, weight_decay=1e-4)
    print(f"start knn {knn_score(moco.query, *split):.3f}")
    for epoch in range(12):
        total = 0.0
        for idx in torch.randperm(900).split(60):
            loss = moco.loss(jitter(x[idx]), jitter(x[idx]), y[idx])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            moco.update_key_encoder()
            total += loss.item()
        if epoch % 2 == 1:
            print(f"epoch {epoch + 1} loss {total / 15:.4f} knn {knn_score(moco.query, *split):.3f}")


if __name__ == "__main__":
    main()
