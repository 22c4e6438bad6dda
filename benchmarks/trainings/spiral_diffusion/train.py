"""Denoising diffusion (v-prediction, cosine noise levels) for points on a spiral; sampling uses the EMA weights."""
import torch
import torch.nn as nn
from torch.optim.swa_utils import AveragedModel, get_ema_multi_avg_fn

torch.manual_seed(404)
STEPS, BATCH, SAMPLING_STEPS = 1100, 256, 40


def spiral(n):
    t = torch.rand(n).sqrt() * 3 * torch.pi
    pts = torch.stack([t * t.cos(), t * t.sin()], 1) / (3 * torch.pi)
    return 1.6 * pts + 0.02 * torch.randn(n, 2)


class TimeFeatures(nn.Module):
    def __init__(self, n=8):
        super().__init__()
        self.register_buffer("freq", 2.0 ** torch.arange(n) * torch.pi / 2)

    def forward(self, t):
        a = t[:, None] * self.freq
        return torch.cat([a.sin(), a.cos()], 1)


class Denoiser(nn.Module):
    def __init__(self, width=96):
        super().__init__()
        self.time = TimeFeatures()
        self.lift = nn.Linear(2, width)
        self.cond = nn.Linear(16, width)
        self.layers = nn.ModuleList(nn.Linear(width, width) for _ in range(3))
        self.out = nn.Linear(width, 2)

    def forward(self, x, t):
        c = self.cond(self.time(t))
        h = self.lift(x)
        for layer in self.layers:
            h = h + layer(nn.functional.silu(h + c))
        return self.out(nn.functional.silu(h))


def alpha_sigma(t):
    return torch.cos(t * torch.pi / 2)[:, None], torch.sin(t * torch.pi / 2)[:, None]


@torch.no_grad()
def ddim(net, n):
    x = torch.randn(n, 2)
    grid = torch.linspace(0.999, 0.0, SAMPLING_STEPS + 1)
    for now, nxt in zip(grid[:-1], grid[1:]):
        a, s = alpha_sigma(now.expand(n))
        v = net(x, now.expand(n))
        x0, eps = a * x - s * v, s * x + a * v
        a2, s2 = alpha_sigma(nxt.expand(n))
        x = a2 * x0 + s2 * eps
    return x


def sliced_wasserstein(a, b, k=64):
    d = nn.functional.normalize(torch.randn(2, k), dim=0)
    return (torch.sort(a @ d, 0).values - torch.sort(b @ d, 0).values).abs().mean().item()


net = Denoiser()
ema = AveragedModel(net, multi_avg_fn=get_ema_multi_avg_fn(0.99))
opt = torch.optim.AdamW(net.parameters(), lr=3e-3, weight_decay=0.0)
sched = torch.optim.lr_scheduler.CosineAnnealingLR(opt, T_max=STEPS, eta_min=1e-5)
running = None
for step in range(1, STEPS + 1):
    x0, eps, t = spiral(BATCH), torch.randn(BATCH, 2), torch.rand(BATCH)
    a, s = alpha_sigma(t)
    noisy, v = a * x0 + s * eps, a * eps - s * x0
    loss = (net(noisy, t) - v).square().mean()
    opt.zero_grad(set_to_none=True)
    loss.backward()
    opt.step()
    sched.step()
    ema.update_parameters(net)
    running = loss.item() if running is None else 0.98 * running + 0.02 * loss.item()
    if step % 220 == 0:
        w = sliced_wasserstein(ddim(ema, 2000), spiral(2000))
        print(f"{step:5d}  v-loss {running:.4f}  sliced W1 to data {w:.4f}")

gauss = spiral(2000).std(0) * torch.randn(2000, 2)
print(f"fitted Gaussian W1 {sliced_wasserstein(gauss, spiral(2000)):.4f}   data vs data {sliced_wasserstein(spiral(2000), spiral(2000)):.4f}")
draws = ddim(ema, 1000)
off = torch.cdist(draws, spiral(4000)).min(1).values
off_g = torch.cdist(gauss, spiral(4000)).min(1).values
print(f"mean distance to spiral: samples {off.mean():.3f}, Gaussian {off_g.mean():.3f}")
