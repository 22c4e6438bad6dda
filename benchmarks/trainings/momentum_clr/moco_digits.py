"""MoCo on digits: a momentum encoder without gradients, a queue of negatives and a low temperature."""
import copy

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from sklearn.datasets import load_digits
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split

SEED, DIM, QUEUE, MOMENTUM, TEMPERATURE = 27, 32, 512, 0.98, 0.1
EPOCHS, BATCH = 30, 64


def view(x):
    """Random shift on the padded grid, a random contrast and noise."""
    n = len(x)
    canvas = F.pad(x.view(n, 8, 8), (1, 1, 1, 1))
    rows = torch.randint(0, 3, (n, 1)) + torch.arange(8)
    cols = torch.randint(0, 3, (n, 1)) + torch.arange(8)
    out = canvas[torch.arange(n)[:, None, None], rows[:, :, None], cols[:, None, :]].reshape(n, 64)
    return out * (0.8 + 0.4 * torch.rand(n, 1)) + 0.1 * torch.randn(n, 64)


class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.trunk = nn.Sequential(nn.Linear(64, 128), nn.ReLU(), nn.Linear(128, 64), nn.ReLU())
        self.project = nn.Linear(64, DIM)

    def forward(self, x):
        return F.normalize(self.project(self.trunk(x)), dim=1)


class MoCo(nn.Module):
    def __init__(self):
        super().__init__()
        self.query = Encoder()
        self.key = copy.deepcopy(self.query)
        for p in self.key.parameters():
            p.requires_grad_(False)
        self.register_buffer("queue", F.normalize(torch.randn(QUEUE, DIM), dim=1))
        self.head = 0

    @torch.no_grad()
    def _follow(self):
        for k, q in zip(self.key.parameters(), self.query.parameters()):
            k.mul_(MOMENTUM).add_(q, alpha=1 - MOMENTUM)

    @torch.no_grad()
    def _enqueue(self, keys):
        slots = (torch.arange(len(keys)) + self.head) % QUEUE
        self.queue[slots] = keys
        self.head = (self.head + len(keys)) % QUEUE

    def forward(self, a, b):
        q = self.query(a)
        with torch.no_grad():
            self._follow()
            k = self.key(b)
        positive = (q * k).sum(1, keepdim=True)
        negative = q @ self.queue.clone().t()
        logits = torch.cat([positive, negative], dim=1) / TEMPERATURE
        loss = F.cross_entropy(logits, torch.zeros(len(q), dtype=torch.long))
        self._enqueue(k)
        return loss


@torch.no_grad()
def probe(encoder, x_tr, y_tr, x_te, y_te):
    clf = LogisticRegression(max_iter=400).fit(encoder.trunk(x_tr).numpy(), y_tr)
    return clf.score(encoder.trunk(x_te).numpy(), y_te)


def main():
    torch.manual_seed(SEED)
    np.random.seed(SEED)
    x, y = load_digits(return_X_y=True)
    x = torch.tensor(x / 16, dtype=torch.float32)
    tr, te = train_test_split(np.arange(len(y)), test_size=0.3, stratify=y, random_state=SEED)
    model = MoCo()
    opt = torch.optim.AdamW(model.query.parameters(), lr=1e-3, weight_decay=1e-4)
    print(f"probe before training {probe(model.query, x[tr], y[tr], x[te], y[te]):.4f}")
    for epoch in range(1, EPOCHS + 1):
        total = batches = 0
        for idx in torch.from_numpy(np.random.permutation(tr)).split(BATCH):
            loss = model(view(x[idx]), view(x[idx]))
            opt.zero_grad()
            loss.backward()
            opt.step()
            total, batches = total + loss.item(), batches + 1
        if epoch % 5 == 0:
            print(f"epoch {epoch:2d} contrastive loss {total / batches:.4f} probe accuracy {probe(model.query, x[tr], y[tr], x[te], y[te]):.4f}")


if __name__ == "__main__":
    main()
