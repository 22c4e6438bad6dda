"""Forward kinematics of a three-joint arm from joint angles, configured with Hydra.

    python train.py train.epochs=20 model.hidden=[64,64]
"""
import logging
import math

import hydra
import torch
from hydra.utils import get_class, instantiate
from omegaconf import DictConfig
from torch import nn
from torch.utils.data import DataLoader, TensorDataset, random_split

log = logging.getLogger("arm")
LINKS = (1.0, 0.7, 0.4)


def arm_dataset(samples, noise, generator):
    angles = (torch.rand(samples, 3, generator=generator) * 2 - 1) * math.pi * torch.tensor([1.0, 0.75, 0.75])
    heading = angles.cumsum(dim=1)
    links = torch.tensor(LINKS)
    position = torch.stack([(links * heading.cos()).sum(1), (links * heading.sin()).sum(1)], dim=1)
    position += noise * torch.randn(position.shape, generator=generator)
    return TensorDataset(angles / math.pi, position)


def build_model(cfg):
    act = get_class(cfg.activation)
    sizes = [3, *cfg.hidden]
    layers = []
    for a, b in zip(sizes, sizes[1:]):
        layers += [nn.Linear(a, b), act()]
    return nn.Sequential(*layers, nn.Linear(sizes[-1], 2))


class Meter:
    def __init__(self):
        self.total, self.n = 0.0, 0

    def add(self, value, n):
        self.total += value * n
        self.n += n

    @property
    def mean(self):
        return self.total / max(self.n, 1)


def run_epoch(model, loader, optimizer=None):
    model.train(optimizer is not None)
    mse, distance = Meter(), Meter()
    with torch.set_grad_enabled(optimizer is not None):
        for angles, position in loader:
            guess = model(angles)
            loss = nn.functional.mse_loss(guess, position)
            if optimizer is not None:
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
            mse.add(loss.item(), len(angles))
            distance.add((guess - position).norm(dim=1).mean().item(), len(angles))
    return mse.mean, distance.mean


@hydra.main(version_base=None, config_path="conf", config_name="config")
def main(cfg: DictConfig):
    torch.manual_seed(cfg.seed)
    gen = torch.Generator().manual_seed(cfg.seed)
    data = arm_dataset(cfg.data.samples, cfg.data.noise, gen)
    n_val = int(len(data) * cfg.data.val_share)
    train_set, val_set = random_split(data, [len(data) - n_val, n_val], generator=gen)
    train = DataLoader(train_set, cfg.train.batch_size, shuffle=True)
    val = DataLoader(val_set, 400)

    targets = torch.stack([val_set[i][1] for i in range(n_val)])
    log.info("predicting the mean: distance %.4f", (targets - targets.mean(0)).norm(dim=1).mean())
    model = build_model(cfg.model)
    optimizer = instantiate(cfg.optimizer, params=model.parameters())
    best = float("inf")
    for epoch in range(cfg.train.epochs):
        train_mse, _ = run_epoch(model, train, optimizer)
        val_mse, val_dist = run_epoch(model, val)
        best = min(best, val_dist)
        log.info("epoch %02d train mse %.5f val mse %.5f val distance %.4f", epoch + 1, train_mse, val_mse, val_dist)
    log.info("best distance %.4f", best)


if __name__ == "__main__":
    main()
