"""A deep fully connected net for a synthetic fraud table."""

import random

import numpy as np
import torch
from sklearn.datasets import make_classification
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler
from torch import nn


def seed_all(seed):
    random.seed(seed)
    np.random.seed(seed)
    torch.manual_seed(seed)


def init_weights(module):
    if isinstance(module, nn.Linear):
        nn.init.normal_(module.weight, mean=0.0, std=1.0)
        nn.init.zeros_(module.bias)


def make_data():
    features, labels = make_classification(
        n_samples=2400, n_features=24, n_informative=12, n_redundant=4,
        n_classes=4, n_clusters_per_class=2, class_sep=1.6, random_state=3,
    )
    split = train_test_split(features, labels, test_size=0.25, random_state=3)
    scaler = StandardScaler().fit(split[0])
    to_x = lambda a: torch.as_tensor(scaler.transform(a), dtype=torch.float32)
    to_y = lambda a: torch.as_tensor(a, dtype=torch.long)
    return to_x(split[0]), to_x(split[1]), to_y(split[2]), to_y(split[3])


def build(depth=7, width=96, n_in=24, n_out=4):
    blocks = [nn.Linear(n_in, width), nn.Tanh()]
    for _ in range(depth - 1):
        blocks += [nn.Linear(width, width), nn.Tanh()]
    blocks.append(nn.Linear(width, n_out))
    model = nn.Sequential(*blocks)
    model.apply(init_weights)
    return model


def accuracy(model, x, y):
    model.eval()
    with torch.no_grad():
        return (model(x).argmax(1) == y).float().mean().item()


def main(epochs=20, batch_size=64, lr=1e-3):
    seed_all(11)
    x_train, x_test, y_train, y_test = make_data()
    model = build()
    optimizer = torch.optim.AdamW(model.parameters(), lr=lr, weight_decay=1e-4)
    loss_fn = nn.CrossEntropyLoss()
    for epoch in range(epochs):
        model.train()
        order = torch.randperm(len(x_train))
        epoch_loss = 0.0
        for start in range(0, len(order), batch_size):
            idx = order[start:start + batch_size]
            loss = loss_fn(model(x_train[idx]), y_train[idx])
            optimizer.zero_grad(set_to_none=True)
            loss.backward()
            optimizer.step()
            epoch_loss += loss.item() * len(idx)
        if (epoch + 1) % 4 == 0:
            print(
                f"[{epoch + 1:02d}/{epochs}] loss={epoch_loss / len(order):.4f} "
                f"train={accuracy(model, x_train, y_train):.3f} test={accuracy(model, x_test, y_test):.3f}"
            )


main()
