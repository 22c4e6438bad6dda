"""Detect bright spots in small images with a fully convolutional net and focal loss."""

import math

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from sklearn.metrics import average_precision_score

PRIOR = 0.01


def spots(n, rng, size=16):
    images = 0.3 * rng.standard_normal((n, 1, size, size))
    target = np.zeros((n, 1, size, size))
    for i in range(n):
        for _ in range(rng.integers(1, 4)):
            y, x = rng.integers(1, size - 1, 2)
            images[i, 0, y - 1:y + 2, x - 1:x + 2] += 0.8
            images[i, 0, y, x] += 0.6
            target[i, 0, y, x] = 1
    return torch.tensor(images, dtype=torch.float32), torch.tensor(target, dtype=torch.float32)


class SpotNet(nn.Module):
    def __init__(self, width=16):
        super().__init__()
        self.conv1 = nn.Conv2d(1, width, 3, padding=1)
        self.conv2 = nn.Conv2d(width, width, 3, padding=1)
        self.conv3 = nn.Conv2d(width, width, 3, padding=1)
        self.head = nn.Conv2d(width, 1, 1)
        self._init_weights()

    def _init_weights(self):
        for m in self.modules():
            if isinstance(m, nn.Conv2d):
                nn.init.kaiming_normal_(m.weight, nonlinearity="relu")
                nn.init.constant_(m.bias, -math.log((1 - PRIOR) / PRIOR))

    def forward(self, x):
        x = F.relu(self.conv1(x))
        x = F.relu(self.conv2(x))
        x = F.relu(self.conv3(x))
        return self.head(x)


def focal(logits, target, alpha=0.9, gamma=2.0):
    ce = F.binary_cross_entropy_with_logits(logits, target, reduction="none")
    p = torch.sigmoid(logits)
    pt = torch.where(target > 0, p, 1 - p)
    weight = torch.where(target > 0, alpha, 1 - alpha)
    return (weight * (1 - pt) ** gamma * ce).sum() / target.sum().clamp(min=1)


def average_precision(model, x, target):
    model.eval()
    with torch.no_grad():
        score = model(x).sigmoid()
    return average_precision_score(target.flatten().numpy(), score.flatten().numpy()), score.std().item()


def main():
    torch.manual_seed(30)
    rng = np.random.default_rng(30)
    x_train, t_train = spots(600, rng)
    x_val, t_val = spots(150, rng)
    model = SpotNet()
    optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
    for epoch in range(5):
        model.train()
        losses = []
        for idx in torch.randperm(len(x_train)).split(32):
            loss = focal(model(x_train[idx]), t_train[idx])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
        ap, spread = average_precision(model, x_val, t_val)
        print(f"epoch {epoch} loss {np.mean(losses):.4f} AP {ap:.3f} spread of the map {spread:.5f}")


if __name__ == "__main__":
    main()
