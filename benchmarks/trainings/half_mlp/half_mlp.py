"""Half precision training of an MLP on the forest-like synthetic table."""

import math

import numpy as np
import torch
from sklearn.datasets import make_blobs
from sklearn.model_selection import train_test_split
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(5)
np.random.seed(5)

DTYPE = torch.float16
GRAD_ACCUM = 2
BATCH = 64
EPOCHS = 6


def load():
    x, y = make_blobs(n_samples=2400, centers=12, n_features=20, cluster_std=4.0, random_state=5)
    x = (x - x.mean(0)) / x.std(0)
    xa, xb, ya, yb = train_test_split(x, y, test_size=0.2, random_state=5)
    as_set = lambda a, b: TensorDataset(torch.tensor(a, dtype=torch.float32), torch.tensor(b))
    return as_set(xa, ya), as_set(xb, yb)


class Net(nn.Module):
    def __init__(self, d_in, d_out, hidden=128):
        super().__init__()
        self.inp = nn.Linear(d_in, hidden)
        self.mid = nn.Linear(hidden, hidden)
        self.head = nn.Linear(hidden, d_out)
        self.act = nn.GELU()

    def forward(self, x):
        x = self.act(self.inp(x))
        x = x + self.act(self.mid(x))
        return self.head(x)


def evaluate(model, loader):
    model.eval()
    correct = count = 0
    with torch.no_grad():
        for x, y in loader:
            logits = model(x.to(DTYPE)).float()
            correct += (logits.argmax(-1) == y).sum().item()
            count += y.numel()
    model.train()
    return correct / count


train_set, valid_set = load()
train_loader = DataLoader(train_set, batch_size=BATCH, shuffle=True)
valid_loader = DataLoader(valid_set, batch_size=512)

model = Net(20, 12).to(DTYPE)
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
criterion = nn.CrossEntropyLoss()
steps_per_epoch = math.ceil(len(train_loader) / GRAD_ACCUM)
schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=steps_per_epoch * EPOCHS)

for epoch in range(EPOCHS):
    total = 0.0
    for step, (x, y) in enumerate(train_loader, start=1):
        logits = model(x.to(DTYPE))
        loss = criterion(logits.float(), y) / GRAD_ACCUM
        loss.backward()
        total += loss.item() * GRAD_ACCUM
        if step % GRAD_ACCUM == 0 or step == len(train_loader):
            torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            optimizer.zero_grad()
            schedule.step()
    print(f"epoch {epoch + 1}/{EPOCHS} loss {total / len(train_loader):.4f} valid acc {evaluate(model, valid_loader):.4f}")
