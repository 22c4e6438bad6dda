"""Price of second-hand boats from length, age, engine hours and a few flags."""

import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

SEED = 11
torch.manual_seed(SEED)
rng = np.random.default_rng(SEED)


def make_listings(n=2400):
    length = rng.uniform(4.5, 16.0, n)
    age = rng.integers(0, 35, n)
    hours = rng.gamma(2.0, 300.0, n)
    diesel = rng.integers(0, 2, n)
    berth = rng.integers(0, 2, n)
    price = 900.0 * length**2.1 * np.exp(-0.05 * age) * (1 + 0.25 * diesel) - 4.0 * hours + 6000 * berth
    price = np.maximum(price + rng.normal(0, 2500, n), 1500)
    x = np.stack([length, age, hours, diesel, berth], axis=1).astype(np.float32)
    return x, price.astype(np.float32)


def split(x, y, share=0.8):
    order = rng.permutation(len(x))
    cut = int(share * len(x))
    return x[order[:cut]], y[order[:cut]], x[order[cut:]], y[order[cut:]]


class PriceNet(nn.Module):
    def __init__(self, n_in, hidden=64):
        super().__init__()
        self.body = nn.Sequential(
            nn.Linear(n_in, hidden),
            nn.ReLU(),
            nn.Linear(hidden, hidden),
            nn.ReLU(),
        )
        self.out = nn.Linear(hidden, 1)

    def forward(self, x):
        return self.out(self.body(x)).squeeze(-1)


def r2(pred, y):
    return 1 - ((pred - y) ** 2).sum() / ((y - y.mean()) ** 2).sum()


x_train, y_train, x_test, y_test = split(*make_listings())
mean, std = x_train.mean(0), x_train.std(0)
x_train, x_test = (x_train - mean) / std, (x_test - mean) / std

train_set = TensorDataset(torch.from_numpy(x_train), torch.from_numpy(y_train))
loader = DataLoader(train_set, batch_size=64, shuffle=True)
x_test, y_test = torch.from_numpy(x_test), torch.from_numpy(y_test)

model = PriceNet(x_train.shape[1])
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
loss_fn = nn.MSELoss()

for epoch in range(30):
    model.train()
    total = 0.0
    for xb, yb in loader:
        optimizer.zero_grad()
        loss = loss_fn(model(xb), yb)
        loss.backward()
        optimizer.step()
        total += loss.item() * len(xb)
    if epoch % 5 == 4:
        model.eval()
        with torch.no_grad():
            score = r2(model(x_test), y_test).item()
        print(f"epoch {epoch + 1:3d}  train loss {total / len(train_set):.4g}  test R2 {score:.3f}")
