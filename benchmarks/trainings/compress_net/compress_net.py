"""Distil a wide teacher into a small student on the digits."""

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from sklearn.datasets import load_digits

TEMPERATURE, ALPHA = 4.0, 0.9


def teacher_net():
    return nn.Sequential(
        nn.Linear(64, 256), nn.ReLU(), nn.Dropout(0.5),
        nn.Linear(256, 256), nn.ReLU(), nn.Dropout(0.5),
        nn.Linear(256, 10),
    )


def student_net():
    return nn.Sequential(nn.Linear(64, 12), nn.ReLU(), nn.Linear(12, 10))


def split(seed=0):
    d = load_digits()
    x, y = torch.tensor(d.data / 16.0, dtype=torch.float32), torch.tensor(d.target)
    order = np.random.default_rng(seed).permutation(len(y))
    return x[order[:1300]], y[order[:1300]], x[order[1300:]], y[order[1300:]]


def batches(x, y, size=64):
    for idx in torch.randperm(len(x)).split(size):
        yield x[idx], y[idx]


def accuracy(net, x, y):
    was = net.training
    net.eval()
    with torch.no_grad():
        acc = (net(x).argmax(1) == y).float().mean().item()
    net.train(was)
    return acc


def train_teacher(x, y, epochs=25):
    net = teacher_net()
    opt = torch.optim.Adam(net.parameters(), 1e-3)
    net.train()
    for _ in range(epochs):
        for xb, yb in batches(x, y):
            opt.zero_grad()
            F.cross_entropy(net(xb), yb).backward()
            opt.step()
    return net


def distillation_loss(student_logits, teacher_logits, labels):
    soft_student = F.softmax(student_logits / TEMPERATURE, dim=1)
    soft_teacher = F.softmax(teacher_logits / TEMPERATURE, dim=1)
    kd = F.kl_div(soft_student, soft_teacher, reduction="batchmean") * TEMPERATURE**2
    return ALPHA * kd + (1 - ALPHA) * F.cross_entropy(student_logits, labels)


def distil(teacher, x, y, x_test, y_test, epochs=30):
    student = student_net()
    opt = torch.optim.Adam(student.parameters(), lr=3e-3)
    for epoch in range(epochs):
        total = 0.0
        for xb, yb in batches(x, y):
            with torch.no_grad():
                soft = teacher(xb)
            loss = distillation_loss(student(xb), soft, yb)
            opt.zero_grad()
            loss.backward()
            opt.step()
            total += loss.item() * len(xb)
        if epoch % 5 == 4:
            print(f"epoch {epoch + 1}: loss {total / len(x):.4f} student test {accuracy(student, x_test, y_test):.3f}")
    return student


if __name__ == "__main__":
    torch.manual_seed(3)
    x_train, y_train, x_test, y_test = split()
    teacher = train_teacher(x_train, y_train)
    print(f"teacher test accuracy {accuracy(teacher, x_test, y_test):.3f}")
    distil(teacher, x_train, y_train, x_test, y_test)
