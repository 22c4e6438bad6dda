"""Digits with sixty labels: the network's own sure answers serve as further labels."""

import torch
from sklearn.datasets import load_digits
from torch import nn
from torch.nn import functional

LABELLED, EPOCHS, SURE = 60, 24, 0.95
torch.manual_seed(0)
digits = load_digits()
images = torch.tensor(digits.images, dtype=torch.float32).flatten(1) / 16
classes = torch.tensor(digits.target)
order = torch.randperm(len(images), generator=torch.Generator().manual_seed(3))
train, test = order[:1300], order[1300:]
labelled = train[:LABELLED]
unlabelled = train

model = nn.Sequential(nn.Linear(64, 128), nn.ReLU(), nn.Dropout(0.2), nn.Linear(128, 10))
optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)


def noisy(batch):
    return batch + 0.15 * torch.randn_like(batch)


for epoch in range(EPOCHS):
    model.train()
    for rows in unlabelled[torch.randperm(len(unlabelled))].split(256):
        with torch.no_grad():
            sure, guess = model(images[rows]).softmax(1).max(1)
        own = functional.cross_entropy(model(noisy(images[rows])), guess, reduction="none")
        known = functional.cross_entropy(model(noisy(images[labelled])), classes[labelled])
        loss = known + (own * (sure > SURE)).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    if epoch % 8 == 7:
        model.eval()
        with torch.no_grad():
            accuracy = (model(images[test]).argmax(1) == classes[test]).float().mean().item()
        print(f"epoch {epoch} loss {loss.item():.4f} test accuracy {accuracy:.4f}")
