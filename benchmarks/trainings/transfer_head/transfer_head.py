"""Pretrain on digits 0-7, then fine-tune for a new two-class task."""

import copy

import torch
import torch.nn as nn
from sklearn.datasets import load_digits
from torch.utils.data import DataLoader, TensorDataset


class Backbone(nn.Module):
    def __init__(self, out_dim=32):
        super().__init__()
        self.layers = nn.Sequential(
            nn.Conv2d(1, 16, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
            nn.Conv2d(16, 32, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
            nn.Flatten(), nn.Linear(128, out_dim), nn.ReLU(),
        )

    def forward(self, x):
        return self.layers(x)


class Classifier(nn.Module):
    def __init__(self, n_classes):
        super().__init__()
        self.backbone = Backbone()
        self.fc = nn.Linear(32, n_classes)

    def forward(self, x):
        return self.fc(self.backbone(x))


def datasets():
    d = load_digits()
    x = torch.tensor(d.images, dtype=torch.float32).unsqueeze(1) / 16
    y = torch.tensor(d.target)
    source = y < 8
    pre = TensorDataset(x[source], y[source])
    task_x, task_y = x[~source], y[~source] - 8
    task_x = torch.flip(task_x, dims=(3,))
    cut = 240
    return pre, TensorDataset(task_x[:cut], task_y[:cut]), TensorDataset(task_x[cut:], task_y[cut:])


def fit(model, loader, optimizer, epochs, tag, val=None):
    criterion = nn.CrossEntropyLoss()
    for epoch in range(epochs):
        model.train()
        total = 0.0
        for x, y in loader:
            loss = criterion(model(x), y)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            total += loss.item()
        acc = f" val acc {score(model, val):.3f}" if val is not None else ""
        print(f"[{tag}] epoch {epoch} loss {total / len(loader):.4f}{acc}")


@torch.no_grad()
def score(model, dataset):
    model.eval()
    x, y = dataset.tensors
    return (model(x).argmax(1) == y).float().mean().item()


def main():
    torch.manual_seed(15)
    pre, train, val = datasets()
    model = Classifier(8)
    fit(model, DataLoader(pre, 64, shuffle=True), torch.optim.Adam(model.parameters(), 2e-3), 6, "pretrain")
    weights = copy.deepcopy(model.state_dict())

    finetuned = Classifier(8)
    finetuned.load_state_dict(weights)
    optimizer = torch.optim.Adam(
        [
            {"params": finetuned.backbone.parameters(), "lr": 1e-6},
            {"params": finetuned.fc.parameters(), "lr": 3e-3},
        ]
    )
    finetuned.fc = nn.Linear(32, 2)
    before = finetuned.fc.weight.clone()
    fit(finetuned, DataLoader(train, 32, shuffle=True), optimizer, 20, "finetune", val)
    print("change of the head", (finetuned.fc.weight - before).abs().max().item())


if __name__ == "__main__":
    main()
