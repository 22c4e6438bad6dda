"""Residual blocks made in a loop, torchmetrics, a plateau schedule."""
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset, random_split
from torchmetrics.classification import MulticlassAccuracy


class Residual(nn.Module):
    def __init__(self, width: int):
        super().__init__()
        self.norm = nn.LayerNorm(width)
        self.inner = nn.Linear(width, 2 * width)
        self.act = nn.GELU()
        self.outer = nn.Linear(2 * width, width)

    def forward(self, x):
        return x + self.outer(self.act(self.inner(self.norm(x))))


class Stack(nn.Module):
    def __init__(self, inputs: int, classes: int, width: int = 16, blocks: int = 3):
        super().__init__()
        self.stem = nn.Linear(inputs, width)
        self.blocks = nn.ModuleList(Residual(width) for _ in range(blocks))
        self.head = nn.Linear(width, classes)

    def forward(self, x):
        x = self.stem(x)
        for block in self.blocks:
            x = block(x)
        return self.head(x)


def main(batch_size: int = 30, epochs: int = 6, lr: float = 2e-2, patience: int = 1) -> None:
    torch.manual_seed(77)
    x = torch.randn(330, 8)
    y = (x[:, 0] > 0).long() + (x[:, 1] > 0).long()
    train, valid = random_split(TensorDataset(x, y), (0.8, 0.2))
    train_loader = DataLoader(train, batch_size=batch_size, shuffle=True)
    valid_loader = DataLoader(valid, batch_size=len(valid))

    model = Stack(8, 3)
    optimizer = torch.optim.RAdam(model.parameters(), lr=lr)
    scheduler = torch.optim.lr_scheduler.ReduceLROnPlateau(optimizer, factor=0.5, patience=patience)
    criterion = nn.CrossEntropyLoss()
    accuracy = MulticlassAccuracy(num_classes=3, average="micro")

    for epoch in range(epochs):
        model.train()
        for xb, yb in train_loader:
            optimizer.zero_grad()
            criterion(model(xb), yb).backward()
            optimizer.step()
        model.eval()
        accuracy.reset()
        with torch.no_grad():
            for xb, yb in valid_loader:
                scores = model(xb)
                accuracy.update(scores, yb)
                scheduler.step(criterion(scores, yb))
        print(f"epoch {epoch} valid accuracy {accuracy.compute().item():.4f}")


if __name__ == "__main__":
    main()
