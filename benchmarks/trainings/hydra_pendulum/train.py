"""Learn the acceleration field of a driven, damped double-well oscillator (hydra-configured)."""
import logging

import hydra
import torch
from omegaconf import DictConfig, OmegaConf
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

log = logging.getLogger("oscillator")


def field(q, v, t):
    return q - q ** 3 - 0.3 * v + 0.5 * torch.cos(1.2 * t)


def sample(n, noise, gen):
    q = torch.empty(n).uniform_(-1.6, 1.6, generator=gen)
    v = torch.empty(n).uniform_(-1.5, 1.5, generator=gen)
    t = torch.empty(n).uniform_(0, 5.24, generator=gen)
    a = field(q, v, t) + noise * torch.randn(n, generator=gen)
    return TensorDataset(torch.stack([q, v, t.mul(1.2).cos()], 1), a.unsqueeze(1))


class AccelerationNet(nn.Sequential):
    def __init__(self, width, depth):
        sizes = [3] + [width] * depth
        body = [m for i, o in zip(sizes, sizes[1:]) for m in (nn.Linear(i, o), nn.Tanh())]
        super().__init__(*body, nn.Linear(width, 1))


class Trainer:
    def __init__(self, cfg: DictConfig):
        self.cfg = cfg
        gen = torch.Generator().manual_seed(cfg.seed)
        self.train_loader = DataLoader(
            sample(cfg.data.n_train, cfg.data.noise, gen), cfg.train.batch_size, shuffle=True
        )
        self.val_loader = DataLoader(sample(cfg.data.n_val, 0.0, gen), 300)
        self.model = AccelerationNet(cfg.model.width, cfg.model.depth)
        family = {"adam": torch.optim.Adam, "rmsprop": torch.optim.RMSprop}[cfg.optim.name]
        self.optimizer = family(self.model.parameters(), lr=cfg.optim.lr)
        self.criterion = nn.MSELoss()

    def train_epoch(self):
        self.model.train()
        self.optimizer.zero_grad()
        total = 0.0
        for inputs, target in self.train_loader:
            loss = self.criterion(self.model(inputs), target)
            loss.backward()
            self.optimizer.step()
            total += loss.item() * len(inputs)
        return total / len(self.train_loader.dataset)

    @torch.no_grad()
    def validate(self):
        self.model.eval()
        sq, truth = 0.0, []
        for inputs, target in self.val_loader:
            sq += (self.model(inputs) - target).pow(2).sum().item()
            truth.append(target)
        truth = torch.cat(truth)
        mse = sq / len(truth)
        return mse, 1 - mse / truth.var(unbiased=False).item()

    def fit(self):
        for epoch in range(1, self.cfg.train.epochs + 1):
            loss = self.train_epoch()
            if epoch % self.cfg.train.log_every == 0 or epoch == 1:
                mse, r2 = self.validate()
                log.info("epoch %d | train mse %.5f | val mse %.5f | val R2 %.4f", epoch, loss, mse, r2)


@hydra.main(version_base=None, config_path="conf", config_name="config")
def main(cfg: DictConfig):
    torch.manual_seed(cfg.seed)
    log.info("\n%s", OmegaConf.to_yaml(cfg.optim))
    Trainer(cfg).fit()


if __name__ == "__main__":
    main()
