"""Classify synthetic mass spectra by the pattern of their peaks (Hydra configured)."""
import logging
import math

import hydra
import torch
import torch.nn as nn
import torch.nn.functional as F
from omegaconf import DictConfig

log = logging.getLogger("peaks")


def spectra(n, cfg, gen):
    """Every class has three characteristic peak positions; heights, jitter and baseline vary."""
    proto = torch.randint(8, cfg.length - 8, (cfg.classes, 3), generator=torch.Generator().manual_seed(cfg.seed))
    label = torch.randint(cfg.classes, (n,), generator=gen)
    axis = torch.arange(cfg.length, dtype=torch.float32)
    x = 0.25 * torch.randn(n, cfg.length, generator=gen)
    for k in range(3):
        pos = proto[label, k].float() + torch.randint(-2, 3, (n,), generator=gen)
        height = 0.4 + torch.rand(n, 1, generator=gen)
        x += height * torch.exp(-0.5 * ((axis - pos[:, None]) / 1.5) ** 2)
    stray = torch.randint(cfg.length, (n, 1), generator=gen).float()
    x += torch.exp(-0.5 * ((axis - stray) / 1.5) ** 2)
    return x.unsqueeze(1), label


class ConvNet(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        blocks, c_in = [], 1
        for c in cfg.model.channels:
            blocks += [nn.Conv1d(c_in, c, cfg.model.kernel, padding=cfg.model.kernel // 2, bias=False),
                       nn.BatchNorm1d(c), nn.ReLU(), nn.MaxPool1d(4)]
            c_in = c
        self.conv = nn.Sequential(*blocks)
        self.drop = nn.Dropout(cfg.model.drop)
        self.fc = nn.Linear(c_in * (cfg.length // 16), cfg.classes)

    def forward(self, x):
        return self.fc(self.drop(self.conv(x).flatten(1)))


def parameter_groups(model, decay):
    """No decay for biases and normalisation."""
    with_decay = [p for p in model.parameters() if p.ndim > 1]
    without = [p for p in model.parameters() if p.ndim <= 1]
    return [{"params": with_decay, "weight_decay": decay}, {"params": without, "weight_decay": 0.0}]


@hydra.main(version_base=None, config_path="conf", config_name="config")
def main(cfg: DictConfig):
    torch.manual_seed(cfg.seed)
    gen = torch.Generator().manual_seed(cfg.seed + 100)
    x, y = spectra(2000, cfg, gen)
    x_te, y_te = spectra(1000, cfg, gen)
    model = ConvNet(cfg)
    opt = torch.optim.SGD(parameter_groups(model, cfg.optim.weight_decay), lr=cfg.optim.lr, momentum=cfg.optim.momentum)
    per_epoch = len(x) // cfg.batch_size
    total = cfg.epochs * per_epoch
    warm = int(cfg.optim.warmup_frac * total)

    def factor(step):
        if step < warm:
            return (step + 1) / warm
        return 0.5 * (1 + math.cos(math.pi * (step - warm) / (total - warm)))

    sched = torch.optim.lr_scheduler.LambdaLR(opt, factor)
    for epoch in range(cfg.epochs):
        model.train()
        running = 0.0
        for idx in torch.randperm(len(x)).split(cfg.batch_size):
            loss = F.cross_entropy(model(x[idx]), y[idx], label_smoothing=cfg.optim.label_smoothing)
            opt.zero_grad()
            loss.backward()
            opt.step()
            sched.step()
            running += loss.item()
        model.eval()
        with torch.no_grad():
            acc = (model(x_te).argmax(1) == y_te).float().mean().item()
        log.info("epoch %d  lr %.4f  loss %.4f  test acc %.4f", epoch, sched.get_last_lr()[0], running / per_epoch, acc)


if __name__ == "__main__":
    main()
