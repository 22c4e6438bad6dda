"""A compact student of an ensemble teacher for activity recognition; trained from the teacher's logits and the labels."""
import logging

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn, optim

logging.basicConfig(level=logging.INFO, format="%(asctime)s %(message)s", datefmt="%H:%M:%S")
ACTIVITIES = ["sit", "walk", "run", "climb", "cycle"]


def activity(n, seed):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, len(ACTIVITIES), n)
    t = np.arange(50) / 25
    freq = np.array([0.1, 1.0, 2.4, 0.8, 1.6])[y][:, None]
    amp = np.array([0.1, 0.8, 1.6, 1.1, 0.6])[y][:, None] * rng.uniform(0.7, 1.3, (n, 1))
    tilt = np.array([0.0, 0.1, 0.2, 0.8, 0.5])[y][:, None]
    phase = rng.uniform(0, 6.28, (n, 1))
    ax = amp * np.sin(6.28 * freq * t + phase) + rng.normal(0, 0.4, (n, 50))
    az = tilt + 0.5 * amp * np.cos(12.56 * freq * t + phase) + rng.normal(0, 0.4, (n, 50))
    return torch.tensor(np.stack([ax, az], 1), dtype=torch.float32), torch.tensor(y)


class Teacher(nn.Module):
    def __init__(self, channels=32):
        super().__init__()
        self.conv = nn.Sequential(
            nn.Conv1d(2, channels, 7, padding=3), nn.ReLU(), nn.MaxPool1d(2),
            nn.Conv1d(channels, channels, 5, padding=2), nn.ReLU(), nn.AdaptiveMaxPool1d(4),
        )
        self.fc = nn.Linear(4 * channels, len(ACTIVITIES))

    def forward(self, x):
        return self.fc(self.conv(x).flatten(1))


class Student(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc1 = nn.Linear(100, 24)
        self.fc2 = nn.Linear(24, len(ACTIVITIES))

    def forward(self, x):
        return self.fc2(F.relu(self.fc1(x.abs().flatten(1))))


def batches(x, y, size, generator):
    order = torch.randperm(len(x), generator=generator)
    for i in range(0, len(x), size):
        rows = order[i : i + size]
        yield x[rows], y[rows]


def evaluate(model, x, y):
    model.eval()
    with torch.no_grad():
        return (model(x).argmax(1) == y).float().mean().item()


def distillation_loss(student_logits, teacher_logits, y, temperature=2.0, alpha=0.7):
    soft = F.kl_div(
        F.log_softmax(student_logits / temperature, 1), F.softmax(teacher_logits / temperature, 1), reduction="batchmean"
    )
    return alpha * temperature**2 * soft + (1 - alpha) * F.cross_entropy(student_logits, y)


def main():
    torch.manual_seed(0)
    generator = torch.Generator().manual_seed(0)
    x, y = activity(2000, 0)
    x_test, y_test = activity(500, 1)
    teacher, student = Teacher(), Student()
    optimizer = optim.Adam(teacher.parameters(), lr=2e-3)
    for _ in range(4):
        teacher.train()
        for xb, yb in batches(x, y, 64, generator):
            loss = F.cross_entropy(teacher(xb), yb)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
    logging.info("teacher accuracy %.3f", evaluate(teacher, x_test, y_test))

    teacher.eval()
    optimizer = optim.Adam(teacher.parameters(), lr=2e-3)
    for epoch in range(1, 10):
        student.train()
        total = 0.0
        for xb, yb in batches(x, y, 64, generator):
            with torch.no_grad():
                target = teacher(xb)
            loss = distillation_loss(student(xb), target, yb)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            total += loss.item() * len(yb)
        if epoch % 3 == 0:
            logging.info("epoch %d loss %.4f student accuracy %.3f", epoch, total / len(x), evaluate(student, x_test, y_test))


if __name__ == "__main__":
    main()
