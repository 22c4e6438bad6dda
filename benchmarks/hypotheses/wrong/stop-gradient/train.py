"""Representations of digits without labels (SimSiam), judged by their neighbours."""

import torch
from sklearn.datasets import load_digits
from torch import nn
from torch.nn import functional

BATCH_SIZE, EPOCHS, WIDTH = 128, 6, 64


class Siamese(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder = nn.Sequential(
            nn.Linear(64, 128), nn.BatchNorm1d(128), nn.ReLU(), nn.Linear(128, WIDTH)
        )
        self.predictor = nn.Sequential(
            nn.Linear(WIDTH, 32), nn.BatchNorm1d(32), nn.ReLU(), nn.Linear(32, WIDTH)
        )


def view(images):
    kept = (torch.rand_like(images) > 0.25).float()
    return images * kept + 0.1 * torch.randn_like(images)


def similarity_loss(prediction, target):
    return -functional.cosine_similarity(prediction, target.detach(), dim=1).mean()


def neighbours(model, images, classes, test_images, test_classes):
    with torch.no_grad():
        known = functional.normalize(model.encoder(images), dim=1)
        asked = functional.normalize(model.encoder(test_images), dim=1)
    nearest = (asked @ known.T).topk(5, dim=1).indices
    return (classes[nearest].mode(1).values == test_classes).float().mean().item()


def main():
    torch.manual_seed(0)
    digits = load_digits()
    images = torch.tensor(digits.images, dtype=torch.float32).flatten(1) / 16
    classes = torch.tensor(digits.target)
    order = torch.randperm(len(images), generator=torch.Generator().manual_seed(1))
    train, test = order[:1400], order[1400:]
    model = Siamese()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9, weight_decay=1e-4)
    for epoch in range(EPOCHS):
        model.train()
        for rows in train[torch.randperm(len(train))].split(BATCH_SIZE):
            one, other = model.encoder(view(images[rows])), model.encoder(view(images[rows]))
            loss = (
                similarity_loss(model.predictor(one), other)
                + similarity_loss(model.predictor(other), one)
            ) / 2
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        model.eval()
        accuracy = neighbours(model, images[train], classes[train], images[test], classes[test])
        print(f"epoch {epoch} loss {loss.item():.4f} test accuracy {accuracy:.4f}")


if __name__ == "__main__":
    main()
