"""Pairwise ranking of search results with Accelerate."""

import numpy as np
import torch
import torch.nn.functional as F
from accelerate import Accelerator
from accelerate.utils import set_seed
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


def make_pairs(n, dim, seed):
    rng = np.random.default_rng(seed)
    w = np.random.default_rng(100).normal(size=dim)
    docs = rng.normal(size=(n, 2, dim)).astype("float32")
    relevance = docs @ w + 0.6 * np.sin(3 * docs[..., 0]) * docs[..., 1]
    better = (relevance[:, 0] > relevance[:, 1]).astype("float32")
    return TensorDataset(torch.from_numpy(docs), torch.from_numpy(better))


class Scorer(nn.Module):
    def __init__(self, dim, hidden=64):
        super().__init__()
        self.fc1 = nn.Linear(dim, hidden)
        self.fc2 = nn.Linear(hidden, hidden)
        self.out = nn.Linear(hidden, 1)

    def forward(self, docs):
        h = F.relu(self.fc1(docs))
        h = F.relu(self.fc2(h))
        return self.out(h).squeeze(-1)


def evaluate(accelerator, model, loader):
    model.eval()
    hits = []
    for docs, better in loader:
        with torch.no_grad():
            s = model(docs)
        guess = (s[:, 0] > s[:, 1]).float()
        hits.append(accelerator.gather_for_metrics((guess == better).float()))
    return torch.cat(hits).mean().item()


def main():
    set_seed(101)
    epochs, dim = 6, 12
    accelerator = Accelerator(cpu=True, gradient_accumulation_steps=4)
    train = DataLoader(make_pairs(6400, dim, 1), batch_size=16, shuffle=True)
    valid = DataLoader(make_pairs(1000, dim, 2), batch_size=250)
    model = Scorer(dim)
    optimizer = torch.optim.AdamW(model.parameters(), lr=4e-3, weight_decay=1e-3)
    updates = epochs * len(train) // 4
    warm = torch.optim.lr_scheduler.LinearLR(optimizer, 0.1, 1.0, total_iters=20)
    cosine = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=updates)
    scheduler = torch.optim.lr_scheduler.SequentialLR(optimizer, [warm, cosine], milestones=[20])
    model, optimizer, train, valid, scheduler = accelerator.prepare(model, optimizer, train, valid, scheduler)

    for epoch in range(epochs):
        model.train()
        total = 0.0
        for docs, better in train:
            with accelerator.accumulate(model):
                scores = model(docs)
                loss = F.binary_cross_entropy_with_logits(scores[:, 0] - scores[:, 1], better)
                accelerator.backward(loss)
                if accelerator.sync_gradients:
                    accelerator.clip_grad_norm_(model.parameters(), 1.0)
                optimizer.step()
                scheduler.step()
                optimizer.zero_grad()
            total += loss.item()
        accelerator.print(
            f"epoch {epoch} loss {total / len(train):.4f} pair accuracy {evaluate(accelerator, model, valid):.4f}"
        )


if __name__ == "__main__":
    main()
