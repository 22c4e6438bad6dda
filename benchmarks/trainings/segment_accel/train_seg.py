"""Blob segmentation with batches of two, group norm and gradient accumulation (accelerate)."""
import torch
import torch.nn as nn
import torch.nn.functional as F
from accelerate import Accelerator
from accelerate.utils import set_seed
from torch.utils.data import DataLoader, TensorDataset

SIZE = 24


def scenes(n, seed):
    g = torch.Generator().manual_seed(seed)
    yy, xx = torch.meshgrid(torch.arange(SIZE), torch.arange(SIZE), indexing="ij")
    mask = torch.zeros(n, SIZE, SIZE)
    for _ in range(3):
        cy, cx = (torch.rand(2, n, 1, 1, generator=g) * SIZE)
        ry, rx = torch.rand(2, n, 1, 1, generator=g) * 3.5 + 1.5
        mask = torch.maximum(mask, (((yy - cy) / ry) ** 2 + ((xx - cx) / rx) ** 2 < 1).float())
    texture = torch.randn(n, SIZE, SIZE, generator=g)
    smooth = F.avg_pool2d(texture[:, None], 3, stride=1, padding=1)[:, 0]
    image = torch.where(mask > 0, 1.5 * smooth + 0.5, 0.5 * texture)
    return TensorDataset(image[:, None], mask[:, None])


def conv(cin, cout):
    return nn.Sequential(nn.Conv2d(cin, cout, 3, padding=1, bias=False), nn.GroupNorm(4, cout), nn.ReLU(inplace=True))


class TinyUNet(nn.Module):
    def __init__(self, ch=12):
        super().__init__()
        self.down1, self.down2 = conv(1, ch), conv(ch, 2 * ch)
        self.bottom = conv(2 * ch, 2 * ch)
        self.up = conv(3 * ch, ch)
        self.out = nn.Conv2d(ch, 1, 1)

    def forward(self, x):
        a = self.down1(x)
        b = self.bottom(self.down2(F.max_pool2d(a, 2)))
        b = F.interpolate(b, scale_factor=2, mode="nearest")
        return self.out(self.up(torch.cat([a, b], dim=1)))


def dice_loss(logits, mask):
    p = logits.sigmoid().flatten(1)
    m = mask.flatten(1)
    return 1 - ((2 * (p * m).sum(1) + 1) / (p.sum(1) + m.sum(1) + 1)).mean()


def main():
    set_seed(40)
    acc = Accelerator(cpu=True, gradient_accumulation_steps=4)
    train = DataLoader(scenes(480, 1), batch_size=2, shuffle=True)
    val = DataLoader(scenes(160, 2), batch_size=16)
    model = TinyUNet()
    opt = torch.optim.AdamW(model.parameters(), lr=4e-3, weight_decay=1e-2)
    model, opt, train, val = acc.prepare(model, opt, train, val)

    for epoch in range(1, 8):
        model.train()
        total = 0.0
        for image, mask in train:
            with acc.accumulate(model):
                logits = model(image)
                loss = 0.5 * dice_loss(logits, mask) + 0.5 * F.binary_cross_entropy_with_logits(logits, mask)
                acc.backward(loss)
                if acc.sync_gradients:
                    acc.clip_grad_norm_(model.parameters(), 1.0)
                opt.step()
                opt.zero_grad()
            total += loss.item()
        model.eval()
        inter = union = 0.0
        with torch.no_grad():
            for image, mask in val:
                pred = model(image) > 0
                inter += (pred & (mask > 0)).sum().item()
                union += (pred | (mask > 0)).sum().item()
        acc.print(f"epoch {epoch} loss {total / len(train):.4f} val IoU {inter / union:.3f}", flush=True)
    every = torch.cat([m for _, m in val])
    acc.print(f"IoU of marking everything: {every.mean().item():.3f}")


if __name__ == "__main__":
    main()
