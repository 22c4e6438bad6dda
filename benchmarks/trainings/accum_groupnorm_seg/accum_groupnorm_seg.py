"""Find bright cells in noisy fields: bfloat16 autocast, micro-batches of two, accumulation, group norm, Dice loss."""

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(86)
SIDE, MICRO, ACCUMULATE = 16, 2, 4


def fields(n):
    yy, xx = torch.meshgrid(torch.arange(SIDE), torch.arange(SIDE), indexing="ij")
    mask = torch.zeros(n, SIDE, SIDE, dtype=torch.bool)
    for _ in range(2):
        cy, cx = (SIDE * torch.rand(2, n, 1, 1)).unbind()
        radius = 2 + 1.5 * torch.rand(n, 1, 1)
        mask |= (yy - cy) ** 2 + (xx - cx) ** 2 < radius**2
    image = 0.9 * mask + 0.5 * torch.randn(n, SIDE, SIDE) + 0.5 * torch.rand(n, 1, 1)
    return image.unsqueeze(1), mask.float().unsqueeze(1)


def block(a, b, stride=1):
    """Group norm, as a batch of two says too little about mean and spread."""
    return nn.Sequential(nn.Conv2d(a, b, 3, stride, 1, bias=False), nn.GroupNorm(4, b), nn.SiLU())


class UNet(nn.Module):
    def __init__(self, width=8):
        super().__init__()
        self.down1, self.down2 = block(1, width), block(width, 2 * width, 2)
        self.middle = block(2 * width, 2 * width)
        self.up = nn.ConvTranspose2d(2 * width, width, 2, 2)
        self.last = block(2 * width, width)
        self.out = nn.Conv2d(width, 1, 1)

    def forward(self, x):
        a = self.down1(x)
        b = self.middle(self.down2(a))
        return self.out(self.last(torch.cat([a, self.up(b)], dim=1)))


def dice_loss(logits, mask):
    p = torch.sigmoid(logits).flatten(1)
    m = mask.flatten(1)
    return (1 - (2 * (p * m).sum(1) + 1) / (p.sum(1) + m.sum(1) + 1)).mean()


@torch.no_grad()
def iou(model, x, y):
    model.eval()
    found = model(x) > 0
    return ((found & (y > 0)).sum() / (found | (y > 0)).sum()).item()


x_train, y_train = fields(160)
x_val, y_val = fields(80)
loader = DataLoader(TensorDataset(x_train, y_train), batch_size=MICRO, shuffle=True)
model = UNet()
optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3, weight_decay=1e-4)
steps = 5 * len(loader) // ACCUMULATE
schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, max_lr=3e-3, total_steps=steps + 1)

for epoch in range(5):
    model.train()
    total = 0.0
    for number, (x, y) in enumerate(loader, start=1):
        with torch.autocast("cpu", dtype=torch.bfloat16):
            logits = model(x)
        loss = dice_loss(logits.float(), y)
        (loss / ACCUMULATE).backward()  # gradients of four micro-batches add up to their mean
        total += loss.item()
        if number % ACCUMULATE == 0:
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            optimizer.zero_grad(set_to_none=True)
            schedule.step()
    print(f"epoch {epoch} dice loss {total / len(loader):.4f} val IoU {iou(model, x_val, y_val):.3f}")
threshold = (x_val > x_val.mean() + x_val.std()) > 0
print(f"a plain threshold: {((threshold & (y_val > 0)).sum() / (threshold | (y_val > 0)).sum()).item():.3f}")
