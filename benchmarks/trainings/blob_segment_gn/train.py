"""Segment bright cells on a noisy background with batches of two images and group norm."""
import argparse
from dataclasses import dataclass

import torch
from torch import nn


@dataclass
class Config:
    images: int = 160
    size: int = 24
    batch: int = 2
    epochs: int = 5
    lr: float = 2e-3
    groups: int = 4
    width: int = 8
    seed: int = 4


def parse() -> Config:
    parser = argparse.ArgumentParser()
    for name, default in vars(Config()).items():
        parser.add_argument(f"--{name}", type=type(default), default=default)
    return Config(**vars(parser.parse_args()))


def draw_cells(n, size, gen):
    yy, xx = torch.meshgrid(torch.arange(size), torch.arange(size), indexing="ij")
    images, masks = [], []
    for _ in range(n):
        mask = torch.zeros(size, size, dtype=torch.bool)
        for _ in range(int(torch.randint(1, 4, (1,), generator=gen))):
            cy, cx = torch.randint(4, size - 4, (2,), generator=gen)
            r = int(torch.randint(2, 5, (1,), generator=gen))
            mask |= (yy - cy) ** 2 + (xx - cx) ** 2 <= r * r
        light = torch.rand(1, generator=gen) * 2
        images.append(light + 1.0 * mask + 0.6 * torch.randn(size, size, generator=gen))
        masks.append(mask)
    return torch.stack(images)[:, None], torch.stack(masks)[:, None].float()


def block(i, o, groups):
    return nn.Sequential(nn.Conv2d(i, o, 3, padding=1, bias=False), nn.GroupNorm(groups, o), nn.SiLU())


class MiniUNet(nn.Module):
    def __init__(self, w, groups):
        super().__init__()
        self.a, self.b = block(1, w, groups), block(w, 2 * w, groups)
        self.mid = block(2 * w, 2 * w, groups)
        self.up = nn.ConvTranspose2d(2 * w, w, 2, stride=2)
        self.c = block(2 * w, w, groups)
        self.out = nn.Conv2d(w, 1, 1)

    def forward(self, x):
        a = self.a(x)
        m = self.mid(self.b(nn.functional.max_pool2d(a, 2)))
        return self.out(self.c(torch.cat([a, self.up(m)], 1)))


def soft_dice(logits, mask):
    p = logits.sigmoid()
    inter = (p * mask).sum((1, 2, 3))
    return 1 - ((2 * inter + 1) / (p.sum((1, 2, 3)) + mask.sum((1, 2, 3)) + 1)).mean()


def main(cfg: Config):
    torch.manual_seed(cfg.seed)
    gen = torch.Generator().manual_seed(cfg.seed)
    x, m = draw_cells(cfg.images, cfg.size, gen)
    xv, mv = draw_cells(60, cfg.size, gen)
    model = MiniUNet(cfg.width, cfg.groups)
    opt = torch.optim.AdamW(model.parameters(), lr=cfg.lr)
    sched = torch.optim.lr_scheduler.OneCycleLR(opt, cfg.lr, total_steps=cfg.epochs * (cfg.images // cfg.batch))
    print(f"all-foreground dice {(2 * mv.sum() / (mv.numel() + mv.sum())).item():.3f}")
    for epoch in range(cfg.epochs):
        model.train()
        total = 0.0
        for idx in torch.randperm(cfg.images).split(cfg.batch):
            logits = model(x[idx])
            loss = soft_dice(logits, m[idx]) + nn.functional.binary_cross_entropy_with_logits(logits, m[idx])
            opt.zero_grad(set_to_none=True)
            loss.backward()
            opt.step()
            sched.step()
            total += loss.item()
        model.eval()
        with torch.no_grad():
            hard = (model(xv) > 0).float()
        dice = 2 * (hard * mv).sum() / (hard.sum() + mv.sum())
        print(f"epoch {epoch + 1} loss {total / (cfg.images // cfg.batch):.4f} val dice {dice.item():.3f}")


if __name__ == "__main__":
    main(parse())
