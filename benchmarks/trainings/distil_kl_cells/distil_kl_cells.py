"""Distil a wide network into a narrow one on scikit-learn's digits, soft targets at temperature 3."""

import torch
import torch.nn.functional as F
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(9)
TEMPERATURE, ALPHA = 3.0, 0.95

x, y = load_digits(return_X_y=True)
x = torch.tensor(x / 16, dtype=torch.float32)
y = torch.tensor(y)
x_train, x_test, y_train, y_test = train_test_split(x, y, test_size=0.3, random_state=9, stratify=y)
loader = DataLoader(TensorDataset(x_train, y_train), batch_size=64, shuffle=True)


def make_net(hidden):
    return nn.Sequential(nn.Linear(64, hidden), nn.ReLU(), nn.Linear(hidden, hidden), nn.ReLU(), nn.Linear(hidden, 10))


def accuracy(net):
    net.eval()
    with torch.no_grad():
        return (net(x_test).argmax(1) == y_test).float().mean().item()


def train_teacher(epochs=10):
    teacher = make_net(256)
    optimizer = torch.optim.Adam(teacher.parameters(), lr=1e-3)
    for _ in range(epochs):
        teacher.train()
        for xb, yb in loader:
            optimizer.zero_grad()
            F.cross_entropy(teacher(xb), yb).backward()
            optimizer.step()
    return teacher.eval()


def distillation_loss(student_logits, teacher_logits, labels):
    soft = F.kl_div(
        F.softmax(student_logits / TEMPERATURE, dim=1),
        F.softmax(teacher_logits / TEMPERATURE, dim=1),
        reduction="batchmean",
    )
    hard = F.cross_entropy(student_logits, labels)
    return ALPHA * TEMPERATURE**2 * soft + (1 - ALPHA) * hard, soft


teacher = train_teacher()
print(f"teacher {accuracy(teacher):.3f}")
student = make_net(16)
optimizer = torch.optim.Adam(student.parameters(), lr=3e-3)
for epoch in range(1, 21):
    student.train()
    running = 0.0
    for xb, yb in loader:
        with torch.no_grad():
            teacher_logits = teacher(xb)
        loss, soft = distillation_loss(student(xb), teacher_logits, yb)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        running += loss.item()
    if epoch % 4 == 0:
        with torch.no_grad():
            agree = (student(x_test).argmax(1) == teacher(x_test).argmax(1)).float().mean().item()
        print(f"epoch {epoch:2d} loss {running / len(loader):8.3f} student {accuracy(student):.3f} agreement {agree:.3f}")
