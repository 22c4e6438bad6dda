"""Validation runs with dropout and batch statistics still in training mode."""
import torch
import torch.nn as nn
from torch.utils.data import DataLoader, Subset, TensorDataset

torch.manual_seed(5)


def make_data(rows: int) -> TensorDataset:
    x = torch.randn(rows, 10)
    score = x[:, :3].sum(1) - x[:, 3:6].prod(1)
    return TensorDataset(x, (score > 0).float().unsqueeze(1))


data = make_data(360)
train_loader = DataLoader(Subset(data, range(300)), batch_size=30, shuffle=True)
val_loader = DataLoader(Subset(data, range(300, 360)), batch_size=60)

model = nn.Sequential(
    nn.Linear(10, 40),
    nn.BatchNorm1d(40, momentum=0.2),
    nn.ReLU(),
    nn.Dropout(0.5),
    nn.Linear(40, 1),
)
criterion = nn.BCEWithLogitsLoss()
optimizer = torch.optim.RMSprop(model.parameters(), lr=0.003, momentum=0.8)

for epoch in range(5):
    model.train()
    for x, y in train_loader:
        optimizer.zero_grad()
        criterion(model(x), y).backward()
        optimizer.step()

    correct = 0
    with torch.no_grad():
        for x, y in val_loader:
            correct += ((model(x) > 0).float() == y).sum().item()
    print(f"epoch {epoch} val_acc={correct / 60:.3f}")
