"""Blob segmentation in bfloat16 with micro-batches of 2, group norm, accumulation over 6 and a soft Dice + BCE loss."""
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(15)
SIDE, MICRO, ACCUM, EPOCHS = 20, 2, 6, 5


def scenes(n):
    grid = torch.stack(torch.meshgrid(torch.arange(SIDE), torch.arange(SIDE), indexing="ij")).float()
    mask = torch.zeros(n, SIDE, SIDE, dtype=torch.bool)
    for _ in range(2):
        c = 3 + (SIDE - 6) * torch.rand(n, 2, 1, 1)
        r = 2 + 2.5 * torch.rand(n, 1, 1)
        mask |= (grid - c).norm(dim=1) < r
    texture = torch.randn(n, SIDE, SIDE)
    smooth = F.avg_pool2d(texture[:, None], 3, 1, 1)[:, 0] * 3
    image = torch.where(mask, smooth + 0.6, texture) + torch.randn(n, 1, 1)
    return image[:, None], mask[:, None].float()


def block(i, o):
    return nn.Sequential(nn.Conv2d(i, o, 3, padding=1), nn.GroupNorm(4, o), nn.SiLU())


class MiniUNet(nn.Module):
    def __init__(self, c=12):
        super().__init__()
        self.enter, self.low = block(1, c), block(c, 2 * c)
        self.deep = block(2 * c, 2 * c)
        self.leave = block(3 * c, c)
        self.out = nn.Conv2d(c, 1, 1)

    def forward(self, x):
        a = self.enter(x)
        b = self.deep(self.low(F.max_pool2d(a, 2)))
        up = F.interpolate(b, scale_factor=2, mode="nearest")
        return self.out(self.leave(torch.cat([a, up], 1)))


def loss_fn(logit, mask):
    logit = logit.float()
    prob = logit.sigmoid()
    inter = (prob * mask).sum((1, 2, 3))
    dice = 1 - (2 * inter + 1) / (prob.sum((1, 2, 3)) + mask.sum((1, 2, 3)) + 1)
    return F.binary_cross_entropy_with_logits(logit, mask) + dice.mean()


@torch.no_grad()
def iou(net, x, m):
    net.eval()
    with torch.autocast("cpu", dtype=torch.bfloat16):
        hard = net(x).float() > 0
    m = m.bool()
    return ((hard & m).sum() / (hard | m).sum()).item()


x, m = scenes(325)
x_te, m_te = scenes(80)
net = MiniUNet()
opt = torch.optim.NAdam(net.parameters(), lr=5e-3)
sched = torch.optim.lr_scheduler.CosineAnnealingLR(opt, T_max=EPOCHS, eta_min=2e-4)
print(f"all-foreground IoU {m_te.mean():.3f}, threshold IoU {((x_te > 0.5) & m_te.bool()).sum() / ((x_te > 0.5) | m_te.bool()).sum():.3f}")
for epoch in range(1, EPOCHS + 1):
    net.train()
    micro = torch.randperm(len(x)).split(MICRO)
    seen = 0.0
    for start in range(0, len(micro), ACCUM):
        group = micro[start:start + ACCUM]        # the last group of an epoch is shorter
        opt.zero_grad()
        for idx in group:
            with torch.autocast("cpu", dtype=torch.bfloat16):
                out = net(x[idx])
            loss = loss_fn(out, m[idx])
            (loss / len(group)).backward()
            seen += loss.item()
        nn.utils.clip_grad_norm_(net.parameters(), 2.0)
        opt.step()
    sched.step()
    print(f"epoch {epoch}  loss {seen / len(micro):.4f}  test IoU {iou(net, x_te, m_te):.4f}")
