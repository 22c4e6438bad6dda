"""Knowledge distillation with few labels and many unlabelled images."""

import copy

import torch
import torch.nn.functional as F
from sklearn.datasets import load_digits
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class Wide(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Sequential(
            nn.Conv2d(1, 24, 3, padding=1), nn.BatchNorm2d(24), nn.ReLU(), nn.MaxPool2d(2),
            nn.Conv2d(24, 24, 3, padding=1), nn.BatchNorm2d(24), nn.ReLU(),
        )
        self.fc = nn.Linear(24 * 16, 10)

    def forward(self, x):
        return self.fc(self.conv(x).flatten(1))


class Narrow(nn.Module):
    def __init__(self, hidden=24):
        super().__init__()
        self.net = nn.Sequential(nn.Flatten(), nn.Linear(64, hidden), nn.ReLU(), nn.Linear(hidden, 10))

    def forward(self, x):
        return self.net(x)


class Distiller:
    def __init__(self, teacher, student, temperature=3.0, alpha=0.7):
        self.teacher = copy.deepcopy(teacher).eval()
        for p in self.teacher.parameters():
            p.requires_grad_(False)
        self.student = student
        self.t, self.alpha = temperature, alpha

    def loss(self, x, y, labelled):
        with torch.no_grad():
            soft = F.log_softmax(self.teacher(x) / self.t, dim=1)
        logits = self.student(x)
        kd = F.kl_div(F.log_softmax(logits / self.t, dim=1), soft, reduction="batchmean", log_target=True)
        loss = self.alpha * self.t**2 * kd
        if labelled.any():
            loss = loss + (1 - self.alpha) * F.cross_entropy(logits[labelled], y[labelled])
        return loss


def accuracy(net, x, y):
    net.eval()
    with torch.no_grad():
        value = (net(x).argmax(1) == y).float().mean().item()
    net.train()
    return value


def main():
    torch.manual_seed(55)
    d = load_digits()
    x = torch.tensor(d.images, dtype=torch.float32).unsqueeze(1) / 8 - 1
    y = torch.tensor(d.target)
    order = torch.randperm(len(y))
    x, y = x[order], y[order]
    x_train, y_train, x_test, y_test = x[:1300], y[:1300], x[1300:], y[1300:]
    labelled = torch.rand(1300) < 0.2

    teacher = Wide()
    optimizer = torch.optim.Adam(teacher.parameters(), lr=2e-3)
    for _ in range(4):
        for idx in torch.randperm(1300).split(64):
            optimizer.zero_grad()
            F.cross_entropy(teacher(x_train[idx]), y_train[idx]).backward()
            optimizer.step()
    print(f"teacher {accuracy(teacher, x_test, y_test):.3f}")

    student = Narrow()
    distiller = Distiller(teacher, student)
    loader = DataLoader(TensorDataset(x_train, y_train, labelled), batch_size=64, shuffle=True)
    optimizer = torch.optim.Adam(student.parameters(), lr=5e-3)
    for epoch in range(12):
        total = 0.0
        for xb, yb, has_label in loader:
            loss = distiller.loss(xb, yb, has_label)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            total += loss.item()
        if epoch % 2 == 1:
            print(f"epoch {epoch + 1}: loss {total / len(loader):.4f} student {accuracy(student, x_test, y_test):.3f}")


if __name__ == "__main__":
    main()
