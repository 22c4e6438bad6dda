"""Knowledge distillation into a small student; teacher and student share the data pipeline."""
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset

TEMPERATURE = 3.0
CLASSES = 6


def pinwheel(n, seed):
    rng = np.random.default_rng(seed)
    label = rng.integers(0, CLASSES, n)
    radius = rng.uniform(0.3, 2.0, n)
    angle = 2 * np.pi * label / CLASSES + 0.9 * radius + rng.normal(0, 0.17, n)
    x = np.column_stack([radius * np.cos(angle), radius * np.sin(angle)])
    return torch.tensor(x, dtype=torch.float32), torch.tensor(label)


def net(width, depth, dropout=0.0):
    layers, n_in = [], 2
    for _ in range(depth):
        layers += [nn.Linear(n_in, width), nn.ReLU(), nn.Dropout(dropout)]
        n_in = width
    return nn.Sequential(*layers, nn.Linear(n_in, CLASSES))


@torch.no_grad()
def accuracy(model, x, y):
    model.eval()
    return (model(x).argmax(1) == y).float().mean().item()


def train_teacher(loader, epochs=12):
    teacher = net(128, 3, dropout=0.3)
    optimizer = torch.optim.Adam(teacher.parameters(), lr=2e-3)
    for _ in range(epochs):
        teacher.train()
        for x, y in loader:
            loss = F.cross_entropy(teacher(x), y)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
    return teacher


class Distiller:
    def __init__(self, teacher, student, lr):
        self.teacher, self.student = teacher, student
        self.divergence = nn.KLDivLoss(reduction="batchmean")
        self.optimizer = torch.optim.Adam(student.parameters(), lr=lr)

    def loss(self, x):
        with torch.no_grad():
            soft_targets = F.softmax(self.teacher(x) / TEMPERATURE, dim=1)
        soft_student = F.softmax(self.student(x) / TEMPERATURE, dim=1)
        return self.divergence(soft_student, soft_targets) * TEMPERATURE**2

    def fit(self, loader, epochs, x_test, y_test):
        for epoch in range(1, epochs + 1):
            self.teacher.train()
            self.student.train()
            total = 0.0
            for x, _ in loader:
                loss = self.loss(x)
                self.optimizer.zero_grad()
                loss.backward()
                self.optimizer.step()
                total += loss.item()
            if epoch % 4 == 0:
                print(f"epoch {epoch} distillation loss {total / len(loader):.4f} student {accuracy(self.student, x_test, y_test):.3f}")


def main():
    torch.manual_seed(30)
    x, y = pinwheel(4000, 0)
    x_test, y_test = pinwheel(1000, 1)
    loader = DataLoader(TensorDataset(x, y), batch_size=64, shuffle=True)
    teacher = train_teacher(loader)
    print(f"teacher {accuracy(teacher, x_test, y_test):.3f}")
    Distiller(teacher, net(24, 2), lr=3e-3).fit(loader, 12, x_test, y_test)


if __name__ == "__main__":
    main()
