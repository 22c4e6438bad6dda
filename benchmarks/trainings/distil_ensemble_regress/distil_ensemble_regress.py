"""One small net learns the mean of an ensemble on the diabetes data; only the nets' outputs serve as targets."""

import numpy as np
import torch
from sklearn.datasets import load_diabetes
from sklearn.model_selection import train_test_split
from torch import nn

torch.manual_seed(3)
np.random.seed(3)

x, y = load_diabetes(return_X_y=True)
x = (x / x.std(0)).astype(np.float32)
y = y.astype(np.float32)  # raw scores from 25 to 346, centred inside the models
x_train, x_test, y_train, y_test = map(torch.from_numpy, train_test_split(x, y, test_size=0.25, random_state=3))


class Regressor(nn.Module):
    """Predicts in units of the score: its last bias starts at the mean, its output is stretched by the spread."""

    def __init__(self, hidden, mean, spread, dropout=0.0):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(10, hidden), nn.ReLU(), nn.Dropout(dropout), nn.Linear(hidden, 1))
        nn.init.zeros_(self.net[-1].weight)  # begins as the constant prediction
        nn.init.zeros_(self.net[-1].bias)
        self.mean, self.spread = mean, spread

    def forward(self, x):
        return self.mean + self.spread * self.net(x).squeeze(-1)


def r2(pred):
    return 1 - ((pred - y_test) ** 2).mean().item() / y_test.var(unbiased=False).item()


def fit(model, x, target, epochs, lr, decay):
    optimizer = torch.optim.AdamW(model.parameters(), lr=lr, weight_decay=decay)
    criterion = nn.SmoothL1Loss(beta=20.0)  # in units of the score: losses of some tens are right
    for _ in range(epochs):
        model.train()
        total = 0.0
        for rows in torch.randperm(len(x)).split(32):
            loss = criterion(model(x[rows]), target[rows])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            total += loss.item() * len(rows)
    return total / len(x)


mean, spread = y_train.mean().item(), y_train.std().item()
teachers = []
for number in range(5):
    rows = torch.randint(0, len(x_train), (len(x_train),))  # a bootstrap: rows repeat on purpose
    teacher = Regressor(64, mean, spread, dropout=0.5)
    loss = fit(teacher, x_train[rows], y_train[rows], epochs=25, lr=2e-3, decay=0.05)
    teacher.eval().requires_grad_(False)
    teachers.append(teacher)
    print(f"teacher {number}: loss {loss:.2f} test R2 {r2(teacher(x_test)):.3f}")

# Unlabelled inputs are made by mixing pairs of patients; no test row is used.
pairs = torch.randint(0, len(x_train), (2, 3000))
weight = torch.rand(3000, 1)
mixed = weight * x_train[pairs[0]] + (1 - weight) * x_train[pairs[1]]
soft_targets = torch.stack([teacher(mixed) for teacher in teachers]).mean(0)
student = Regressor(16, mean, spread)
loss = fit(student, mixed, soft_targets, epochs=15, lr=5e-3, decay=1e-3)
student.eval()
with torch.no_grad():
    ensemble = torch.stack([teacher(x_test) for teacher in teachers]).mean(0)
    print(f"student: loss {loss:.2f} test R2 {r2(student(x_test)):.3f}, ensemble {r2(ensemble):.3f}")
