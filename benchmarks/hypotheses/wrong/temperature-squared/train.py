"""A small network learns digits from a larger one (distillation)."""

import torch
from sklearn.datasets import load_digits
from torch import nn
from torch.nn import functional

TEMPERATURE, MIX, BATCH_SIZE = 4.0, 0.7, 64


def soft_loss(student, teacher):
    """How far the softened answers of the student are from those of the teacher."""
    wanted = functional.softmax(teacher / TEMPERATURE, dim=1)
    given = functional.log_softmax(student / TEMPERATURE, dim=1)
    return functional.kl_div(given, wanted, reduction="batchmean") * TEMPERATURE**2


def fit(model, images, classes, rate, epochs, teacher=None):
    optimizer = torch.optim.Adam(model.parameters(), lr=rate)
    for _ in range(epochs):
        for rows in torch.randperm(len(images)).split(BATCH_SIZE):
            outputs = model(images[rows])
            loss = functional.cross_entropy(outputs, classes[rows])
            if teacher is not None:
                with torch.no_grad():
                    known = teacher(images[rows])
                loss = (1 - MIX) * loss + MIX * soft_loss(outputs, known)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
    return loss.item()


def main():
    torch.manual_seed(0)
    digits = load_digits()
    images = torch.tensor(digits.images, dtype=torch.float32).flatten(1) / 16
    classes = torch.tensor(digits.target)
    order = torch.randperm(len(images), generator=torch.Generator().manual_seed(6))
    train, few, test = order[:1100], order[:300], order[1100:]
    teacher = nn.Sequential(nn.Linear(64, 128), nn.ReLU(), nn.Linear(128, 10))
    fit(teacher, images[train], classes[train], rate=2e-3, epochs=10)
    student = nn.Sequential(nn.Linear(64, 12), nn.ReLU(), nn.Linear(12, 10))
    for part in range(3):
        loss = fit(student, images[few], classes[few], rate=1e-2, epochs=6, teacher=teacher)
        with torch.no_grad():
            accuracy = (student(images[test]).argmax(1) == classes[test]).float().mean().item()
        print(f"part {part} loss {loss:.4f} test accuracy {accuracy:.4f}")


if __name__ == "__main__":
    main()
