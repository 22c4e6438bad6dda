"""Segment bright ellipses with a small U-Net; settings in segment_conf.yaml."""

from pathlib import Path

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from omegaconf import OmegaConf
from torch.utils.data import DataLoader, TensorDataset

cfg = OmegaConf.load(Path(__file__).with_name("segment_conf.yaml"))


def draw(n, size, seed):
    rng = np.random.default_rng(seed)
    yy, xx = np.mgrid[0:size, 0:size]
    images = np.zeros((n, 1, size, size), dtype=np.float32)
    masks = np.zeros_like(images)
    for i in range(n):
        cy, cx = rng.uniform(4, size - 4, 2)
        a, b = rng.uniform(2, 5, 2)
        inside = ((yy - cy) / a) ** 2 + ((xx - cx) / b) ** 2 < 1
        exposure, gain = rng.normal(0, 4), rng.uniform(0.3, 3)
        images[i, 0] = exposure + gain * (inside + 0.3 * rng.standard_normal((size, size)))
        masks[i, 0] = inside
    return TensorDataset(torch.from_numpy(images), torch.from_numpy(masks))


def conv_block(c_in, c_out):
    return nn.Sequential(
        nn.Conv2d(c_in, c_out, 3, padding=1, bias=False),
        nn.BatchNorm2d(c_out),
        nn.ReLU(inplace=True),
        nn.Conv2d(c_out, c_out, 3, padding=1, bias=False),
        nn.BatchNorm2d(c_out),
        nn.ReLU(inplace=True),
    )


class UNet(nn.Module):
    def __init__(self, base):
        super().__init__()
        self.down1 = conv_block(1, base)
        self.down2 = conv_block(base, 2 * base)
        self.up = nn.ConvTranspose2d(2 * base, base, 2, stride=2)
        self.merge = conv_block(2 * base, base)
        self.out = nn.Conv2d(base, 1, 1)

    def forward(self, x):
        skip = self.down1(x)
        deep = self.down2(F.max_pool2d(skip, 2))
        return self.out(self.merge(torch.cat([self.up(deep), skip], dim=1)))


def dice(logits, masks):
    pred = (logits > 0).float()
    overlap = (pred * masks).sum(dim=(1, 2, 3))
    return (2 * overlap / (pred.sum(dim=(1, 2, 3)) + masks.sum(dim=(1, 2, 3)) + 1e-6)).mean().item()


def validate(net, loader):
    net.eval()
    scores, losses = [], []
    with torch.no_grad():
        for image, mask in loader:
            logits = net(image)
            losses.append(F.binary_cross_entropy_with_logits(logits, mask).item())
            scores.append(dice(logits, mask))
    return np.mean(losses), np.mean(scores)


def main():
    torch.manual_seed(cfg.seed)
    train_data = draw(cfg.n_train, cfg.image_size, seed=cfg.seed)
    val_data = draw(cfg.n_val, cfg.image_size, seed=cfg.seed + 1)
    train_loader = DataLoader(train_data, batch_size=cfg.loader.train_batch, shuffle=True)
    val_loader = DataLoader(val_data, batch_size=cfg.loader.val_batch)
    net = UNet(cfg.base)
    opt = torch.optim.Adam(net.parameters(), lr=cfg.optimizer.lr, betas=tuple(cfg.optimizer.betas))
    for epoch in range(1, cfg.epochs + 1):
        net.train()
        history, train_dice = [], []
        for image, mask in train_loader:
            logits = net(image)
            loss = F.binary_cross_entropy_with_logits(logits, mask)
            opt.zero_grad()
            loss.backward()
            opt.step()
            history.append(loss.item())
            train_dice.append(dice(logits.detach(), mask))
        val_loss, val_dice = validate(net, val_loader)
        print(
            f"epoch {epoch}: train loss {np.mean(history):.4f} dice {np.mean(train_dice):.3f} | "
            f"val loss {val_loss:.4f} dice {val_dice:.3f}"
        )


if __name__ == "__main__":
    main()
