"""Semi-supervised mean teacher: few labelled points on concentric rings, many unlabelled ones."""
import math
import time

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.func import functional_call

LABELLED = 24
UNLABELLED = 1500
STEPS = 420
DECAY = 0.97
CONSISTENCY = 4.0


def rings(n, seed):
    g = torch.Generator().manual_seed(seed)
    y = torch.randint(3, (n,), generator=g)
    r = 0.6 + 0.7 * y + 0.08 * torch.randn(n, generator=g)
    a = torch.rand(n, generator=g) * 2 * math.pi
    return torch.stack([r * a.cos(), r * a.sin()], dim=1), y


class Net(nn.Module):
    def __init__(self, width=96):
        super().__init__()
        self.fc1 = nn.Linear(2, width)
        self.fc2 = nn.Linear(width, width)
        self.fc3 = nn.Linear(width, width)
        self.fc4 = nn.Linear(width, 3)

    def forward(self, x):
        x = F.relu(self.fc1(x))
        x = F.relu(self.fc2(x))
        x = F.relu(self.fc3(x))
        return self.fc4(x)


class MeanTeacher:
    """Exponential average of the student's weights, called functionally."""

    def __init__(self, student, decay):
        self.student = student
        self.decay = decay
        self.weights = {name: p.detach().clone() for name, p in student.named_parameters()}

    def update(self):
        for name, p in self.student.named_parameters():
            self.weights[name] = torch.lerp(self.weights[name], p, 1.0 - self.decay)

    def __call__(self, x):
        return functional_call(self.student, self.weights, (x,))


def accuracy(forward, x, y):
    with torch.no_grad():
        return (forward(x).argmax(1) == y).float().mean().item()


def main():
    torch.manual_seed(2)
    x_lab, y_lab = rings(LABELLED, 0)
    x_unl, _ = rings(UNLABELLED, 1)
    x_test, y_test = rings(2000, 2)

    student = Net()
    teacher = MeanTeacher(student, DECAY)
    optimizer = torch.optim.Adam(student.parameters(), lr=3e-3)
    tick = time.perf_counter()
    for step in range(1, STEPS + 1):
        batch = x_unl[torch.randint(UNLABELLED, (128,))]
        noisy_a = batch + 0.1 * torch.randn_like(batch)
        noisy_b = batch + 0.1 * torch.randn_like(batch)
        ramp = math.exp(-5 * (1 - min(1.0, step / 150)) ** 2)

        supervised = F.cross_entropy(student(x_lab + 0.03 * torch.randn_like(x_lab)), y_lab)
        target = teacher(noisy_b).softmax(dim=1)
        consistency = F.mse_loss(student(noisy_a).softmax(dim=1), target)
        loss = supervised + CONSISTENCY * ramp * consistency

        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        teacher.update()

        if step % 60 == 0:
            now = time.perf_counter()
            print(f"step {step:4d} sup {supervised.item():.4f} cons {consistency.item():.5f} "
                  f"student {accuracy(student, x_test, y_test):.3f} teacher {accuracy(teacher, x_test, y_test):.3f} "
                  f"{(now - tick) / 60 * 1000:.1f} ms/step")
            tick = now


if __name__ == "__main__":
    main()
