"""Averaged weights (SWA) on noisy two-ring points: a constant, high learning rate is part of the method."""

import hydra
import torch
from omegaconf import DictConfig, OmegaConf
from sklearn.datasets import make_circles
from torch import nn
from torch.optim.swa_utils import SWALR, AveragedModel, update_bn
from torch.utils.data import DataLoader, TensorDataset


def points(n, flip, seed):
    xy, label = make_circles(n, noise=0.12, factor=0.55, random_state=seed)
    xy, label = torch.tensor(xy, dtype=torch.float32), torch.tensor(label)
    noisy = torch.rand(n, generator=torch.Generator().manual_seed(seed)) < flip
    return xy, label, torch.where(noisy, 1 - label, label)


def network():
    return nn.Sequential(
        nn.Linear(2, 64),
        nn.BatchNorm1d(64),
        nn.ReLU(),
        nn.Linear(64, 64),
        nn.BatchNorm1d(64),
        nn.ReLU(),
        nn.Linear(64, 2),
    )


@torch.no_grad()
def accuracy(model, x, y):
    model.eval()
    return (model(x).argmax(1) == y).float().mean().item()


@hydra.main(version_base=None, config_path=".", config_name="hydra_averaged_net")
def main(cfg: DictConfig) -> None:
    print(OmegaConf.to_yaml(cfg).splitlines()[0])
    torch.manual_seed(cfg.seed)
    x, true, given = points(cfg.data.n, cfg.data.flip, cfg.seed)
    cut = int(0.6 * cfg.data.n)
    # A tenth of the training labels is wrong: the training accuracy cannot pass 0.9 by honest means.
    loader = DataLoader(TensorDataset(x[:cut], given[:cut]), cfg.batch_size, shuffle=True)

    model = network()
    averaged = AveragedModel(model)
    optimizer = torch.optim.SGD(model.parameters(), **cfg.optimizer)
    swa_schedule = SWALR(optimizer, swa_lr=cfg.swa.lr, anneal_epochs=2)
    criterion = nn.CrossEntropyLoss()
    for epoch in range(cfg.epochs):
        model.train()
        total = 0.0
        for xb, yb in loader:
            optimizer.zero_grad()
            loss = criterion(model(xb), yb)
            loss.backward()
            optimizer.step()
            total += loss.item()
        if epoch >= cfg.swa.start:
            averaged.update_parameters(model)
            swa_schedule.step()
        print(f"epoch {epoch:2d} loss {total / len(loader):.4f} test acc {accuracy(model, x[cut:], true[cut:]):.3f}")
    update_bn(loader, averaged)
    print(f"averaged: test acc {accuracy(averaged, x[cut:], true[cut:]):.3f}")


if __name__ == "__main__":
    main()
