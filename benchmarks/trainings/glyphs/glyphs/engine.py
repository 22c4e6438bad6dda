"""Training and validation passes."""

import torch
from torch import nn

criterion = nn.CrossEntropyLoss()


def train_epoch(model, loader, optimizer):
    model.train()
    loss_sum = right = 0
    for images, labels in loader:
        logits = model(images)
        loss = criterion(logits, labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        loss_sum += loss.item() * len(labels)
        right += (logits.argmax(1) == labels).sum().item()
    n = len(loader.dataset)
    return loss_sum / n, right / n


@torch.no_grad()
def validate(model, loader):
    model.eval()
    loss_sum = right = 0
    for images, labels in loader:
        logits = model(images)
        loss_sum += criterion(logits, labels).item() * len(labels)
        right += (logits.argmax(1) == labels).sum().item()
    n = len(loader.dataset)
    return loss_sum / n, right / n
