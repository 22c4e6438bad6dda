import torch
from torch import nn

from pkg_insects.data import loaders
from pkg_insects.silhouettes import KINDS


def network():
    return nn.Sequential(
        nn.Conv2d(1, 16, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
        nn.Conv2d(16, 32, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
        nn.Flatten(), nn.Linear(512, 64), nn.ReLU(), nn.Linear(64, KINDS),
    )  # fmt: skip


def main(epochs=9):
    torch.manual_seed(3)
    train, val = loaders(batch_size=50)
    model = network()
    optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
    criterion = nn.CrossEntropyLoss()
    for epoch in range(epochs):
        model.train()
        total = 0.0
        for picture, kind in train:
            optimizer.zero_grad()
            loss = criterion(model(picture), kind)
            loss.backward()
            optimizer.step()
            total += loss.item()
        model.eval()
        right = 0
        with torch.no_grad():
            for picture, kind in val:
                right += (model(picture).argmax(1) == kind).sum().item()
        print(f"epoch {epoch} loss {total / len(train):.3f} val acc {right / len(val.dataset):.3f}")


if __name__ == "__main__":
    main()
