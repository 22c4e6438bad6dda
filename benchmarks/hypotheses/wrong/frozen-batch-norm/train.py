"""Features learned on the digits 0 to 4 serve to tell 5 to 9 apart."""

import torch
from sklearn.datasets import load_digits
from torch import nn
from torch.nn import functional

BATCH_SIZE = 64


class Backbone(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(
            nn.Conv2d(1, 12, 3, padding=1), nn.BatchNorm2d(12), nn.ReLU(), nn.MaxPool2d(2),
            nn.Conv2d(12, 16, 3, padding=1), nn.BatchNorm2d(16), nn.ReLU(), nn.Flatten(),
        )

    def forward(self, images):
        return self.layers(images)


def pretrain(backbone, images, classes, epochs=5):
    head = nn.Linear(256, 5)
    optimizer = torch.optim.Adam([*backbone.parameters(), *head.parameters()], lr=3e-3)
    for _ in range(epochs):
        for rows in torch.randperm(len(images)).split(BATCH_SIZE):
            loss = functional.cross_entropy(head(backbone(images[rows])), classes[rows])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()


def finetune(backbone, head, images, classes, epochs=10):
    for one in backbone.parameters():
        one.requires_grad_(False)
    backbone.eval()
    optimizer = torch.optim.Adam(head.parameters(), lr=3e-3)
    for epoch in range(epochs):
        for rows in torch.randperm(len(images)).split(BATCH_SIZE):
            loss = functional.cross_entropy(head(backbone(images[rows])), classes[rows])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        print(f"epoch {epoch} loss {loss.item():.4f}")


def main():
    torch.manual_seed(0)
    digits = load_digits()
    images = torch.tensor(digits.images, dtype=torch.float32)[:, None] / 16
    classes = torch.tensor(digits.target)
    first, second = (classes < 5).nonzero()[:, 0], (classes >= 5).nonzero()[:, 0]
    second = second[torch.randperm(len(second), generator=torch.Generator().manual_seed(1))]
    few, test = second[:150], second[150:]
    backbone, head = Backbone(), nn.Linear(256, 5)
    pretrain(backbone, images[first], classes[first])
    finetune(backbone, head, images[few], classes[few] - 5)
    backbone.eval()
    with torch.no_grad():
        guess = head(backbone(images[test])).argmax(1) + 5
    print(f"test accuracy {(guess == classes[test]).float().mean().item():.4f}")


if __name__ == "__main__":
    main()
