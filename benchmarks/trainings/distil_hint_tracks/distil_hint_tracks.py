"""Distil a trained track classifier into a smaller one through its features; a linear map joins their widths."""

import math

import torch
import torch.nn.functional as F
from torch import nn


def tracks(n, generator, length=40):
    """Animal tracks: a turn rate and a rhythm of steps for each of five kinds."""
    kind = torch.randint(0, 5, (n,), generator=generator)
    turn = torch.tensor([0.0, 0.05, 0.1, 0.15, 0.2])[kind]
    rhythm = torch.tensor([3.0, 5.0, 4.0, 6.0, 3.5])[kind]
    t = torch.arange(length).float()
    heading = turn[:, None] * t + 0.3 * torch.randn(n, length, generator=generator).cumsum(1) / 3
    stride = 1 + 0.5 * torch.sin(2 * math.pi * t / rhythm[:, None] + 6.28 * torch.rand(n, 1, generator=generator))
    return torch.stack([heading.cos() * stride, heading.sin() * stride], dim=1), kind


class TrackNet(nn.Module):
    def __init__(self, width, classes=5):
        super().__init__()
        self.features = nn.Sequential(
            nn.Conv1d(2, width, 5, padding=2),
            nn.ReLU(),
            nn.Conv1d(width, width, 5, stride=2, padding=2),
            nn.ReLU(),
            nn.AdaptiveAvgPool1d(1),
            nn.Flatten(),
        )
        self.head = nn.Linear(width, classes)

    def forward(self, x):
        return self.head(self.features(x))


def accuracy(model, x, y):
    model.eval()
    with torch.no_grad():
        return (model(x).argmax(1) == y).float().mean().item()


def main():
    torch.manual_seed(28)
    generator = torch.Generator().manual_seed(28)
    x_train, y_train = tracks(2000, generator)
    x_test, y_test = tracks(600, generator)

    teacher = TrackNet(64)
    optimizer = torch.optim.Adam(teacher.parameters(), lr=3e-3)
    for _ in range(8):
        for rows in torch.randperm(len(x_train)).split(50):
            optimizer.zero_grad()
            F.cross_entropy(teacher(x_train[rows]), y_train[rows]).backward()
            optimizer.step()
    print(f"teacher: {accuracy(teacher, x_test, y_test):.3f}")

    student, join = TrackNet(12), nn.Linear(12, 64)
    teacher.eval()
    optimizer = torch.optim.Adam([*student.parameters(), *join.parameters()], lr=3e-3)
    for epoch in range(12):
        student.train()
        total = 0.0
        for rows in torch.randperm(len(x_train)).split(50):
            x, y = x_train[rows], y_train[rows]
            with torch.no_grad():
                taught = teacher.features(x)
                own = student.features(x)
            hint = F.mse_loss(join(own), taught)
            loss = F.cross_entropy(student.head(own), y) + 0.5 * hint
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            total += loss.item()
        print(f"epoch {epoch:2d} loss {total / 40:.3f} student {accuracy(student, x_test, y_test):.3f}")


if __name__ == "__main__":
    main()
