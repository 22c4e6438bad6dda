"""Coffee blend recognition from aroma sensors; Hydra config, SGD with a large one-cycle rate."""
import hydra
import numpy as np
import torch
import torch.nn as nn
from omegaconf import DictConfig
from torch.optim.lr_scheduler import OneCycleLR
from torch.utils.data import DataLoader, TensorDataset

N_SENSORS, N_BLENDS = 12, 6


def aromas(n, seed):
    rng = np.random.default_rng(seed)
    profile = np.random.default_rng(500).gamma(2.0, 0.5, (N_BLENDS, N_SENSORS))
    blend = rng.integers(0, N_BLENDS, n)
    strength = rng.uniform(0.5, 2.0, (n, 1))
    x = np.log1p(strength * profile[blend] * rng.lognormal(0, 0.25, (n, N_SENSORS)))
    return x.astype(np.float32), blend


class AromaNet(nn.Module):
    def __init__(self, hidden):
        super().__init__()
        self.body = nn.Sequential(
            nn.Linear(N_SENSORS, hidden, bias=False), nn.BatchNorm1d(hidden), nn.ReLU(),
            nn.Linear(hidden, hidden, bias=False), nn.BatchNorm1d(hidden), nn.ReLU(),
        )
        self.head = nn.Linear(hidden, N_BLENDS)

    def forward(self, x):
        return self.head(self.body(x))


def accuracy(model, loader):
    model.eval()
    with torch.no_grad():
        hits = sum((model(x).argmax(1) == y).sum().item() for x, y in loader)
    return hits / len(loader.dataset)


def loaders(cfg):
    x_tr, y_tr = aromas(cfg.data.train, cfg.seed)
    x_va, y_va = aromas(cfg.data.val, cfg.seed + 100)
    mean, std = x_tr.mean(0), x_tr.std(0)
    sets = [TensorDataset(torch.from_numpy((x - mean) / std), torch.from_numpy(y)) for x, y in ((x_tr, y_tr), (x_va, y_va))]
    train = DataLoader(sets[0], cfg.train.batch_size, shuffle=True, drop_last=True)
    return train, DataLoader(sets[1], 300)


@hydra.main(version_base=None, config_path="conf", config_name="config")
def main(cfg: DictConfig):
    torch.manual_seed(cfg.seed)
    train, val = loaders(cfg)
    model = AromaNet(cfg.model.hidden)
    opt = torch.optim.SGD(model.parameters(), **cfg.optim)
    schedule = OneCycleLR(opt, max_lr=cfg.optim.lr, epochs=cfg.train.epochs, steps_per_epoch=len(train))
    criterion = nn.CrossEntropyLoss(label_smoothing=cfg.train.label_smoothing)
    for epoch in range(cfg.train.epochs):
        model.train()
        total = 0.0
        for x, y in train:
            opt.zero_grad()
            loss = criterion(model(x), y)
            loss.backward()
            opt.step()
            schedule.step()
            total += loss.item()
        print(f"epoch {epoch:2d} lr {schedule.get_last_lr()[0]:.4f} loss {total / len(train):.4f} val_acc {accuracy(model, val):.4f}")


if __name__ == "__main__":
    main()
