import math

import torch
from torch import nn
from torch.nn.utils.parametrizations import spectral_norm

torch.manual_seed(3)

MODES = 6
Z_DIM = 8
BATCH = 192
STEPS = 1500
CRITIC_STEPS = 2


def ring(n):
    """Gaussians on a circle of radius 2."""
    which = torch.randint(MODES, (n,))
    angle = which * (2 * math.pi / MODES)
    centers = 2.0 * torch.stack([angle.cos(), angle.sin()], dim=1)
    return centers + 0.12 * torch.randn(n, 2)


class Generator(nn.Sequential):
    def __init__(self, width=64):
        super().__init__(
            nn.Linear(Z_DIM, width), nn.ReLU(),
            nn.Linear(width, width), nn.ReLU(),
            nn.Linear(width, 2),
        )


class Critic(nn.Module):
    def __init__(self, width=96):
        super().__init__()
        self.body = nn.Sequential(
            spectral_norm(nn.Linear(2, width)), nn.LeakyReLU(0.2),
            spectral_norm(nn.Linear(width, width)), nn.LeakyReLU(0.2),
        )
        self.score = nn.Linear(width, 1)

    def forward(self, x):
        return self.score(self.body(x * 1.5)).squeeze(1)


G, D = Generator(), Critic()
G_avg = torch.optim.swa_utils.AveragedModel(G, multi_avg_fn=torch.optim.swa_utils.get_ema_multi_avg_fn(0.99))
g_opt = torch.optim.Adam(G.parameters(), lr=4e-4, betas=(0.0, 0.9))
d_opt = torch.optim.Adam(D.parameters(), lr=1e-3, betas=(0.0, 0.9))


@torch.no_grad()
def report(step, d_loss, g_loss):
    x = G_avg(torch.randn(3000, Z_DIM))
    k = torch.arange(MODES)
    angle = k * (2 * math.pi / MODES)
    centers = 2.0 * torch.stack([angle.cos(), angle.sin()], dim=1)
    dist, nearest = torch.cdist(x, centers).min(dim=1)
    good = dist < 0.5
    share = torch.bincount(nearest[good], minlength=MODES) / len(x)
    print(f"step {step:5d}  d {d_loss:+.3f}  g {g_loss:+.3f}  on-mode {good.float().mean():.3f}  "
          f"modes {(share > 0.03).sum().item()}/{MODES}")


for step in range(1, STEPS + 1):
    D.requires_grad_(True)
    for _ in range(CRITIC_STEPS):
        real = ring(BATCH)
        with torch.no_grad():
            fake = G(torch.randn(BATCH, Z_DIM))
        d_loss = torch.relu(1 - D(real)).mean() + torch.relu(1 + D(fake)).mean()
        d_opt.zero_grad()
        d_loss.backward()
        d_opt.step()

    # the critic only passes gradients on while the generator moves
    D.requires_grad_(False)
    g_loss = -D(G(torch.randn(BATCH, Z_DIM))).mean()
    g_opt.zero_grad()
    g_loss.backward()
    g_opt.step()
    G_avg.update_parameters(G)

    if step % 150 == 0:
        report(step, d_loss.item(), g_loss.item())
