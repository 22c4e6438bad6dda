"""VAE for tide curves. Gaussian decoder with a learned noise level, so the loss may fall below zero;
KL weight is warmed up; free bits keep every latent alive."""
import math

import numpy as np
import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(31)
gen = np.random.default_rng(31)


def tide_curves(n, hours=40):
    t = np.arange(hours)
    amp = gen.uniform(0.5, 1.5, (n, 1))
    spring = gen.uniform(0, 0.6, (n, 1))
    phase = gen.uniform(0, 2 * np.pi, (n, 1))
    trend = gen.normal(0, 0.3, (n, 1))
    y = amp * np.cos(2 * np.pi * t / 12.4 + phase) + spring * np.cos(2 * np.pi * t / 24.8 + phase) + trend
    return (y + gen.normal(0, 0.1, y.shape)).astype(np.float32)


train = torch.from_numpy(tide_curves(5000))
held_out = torch.from_numpy(tide_curves(800))
loader = DataLoader(TensorDataset(train), batch_size=100, shuffle=True, drop_last=True)


class TideVAE(nn.Module):
    def __init__(self, d=40, z=6, h=128):
        super().__init__()
        self.enc = nn.Sequential(nn.Linear(d, h), nn.SiLU(), nn.Linear(h, h), nn.SiLU())
        self.mu, self.logvar = nn.Linear(h, z), nn.Linear(h, z)
        self.dec = nn.Sequential(nn.Linear(z, h), nn.SiLU(), nn.Linear(h, h), nn.SiLU(), nn.Linear(h, d))
        self.log_sigma = nn.Parameter(torch.zeros(()))

    def forward(self, x):
        h = self.enc(x)
        mu, logvar = self.mu(h), self.logvar(h).clamp(-10, 4)
        z = mu + torch.randn_like(mu) * (0.5 * logvar).exp()
        return self.dec(z), mu, logvar

    def terms(self, x):
        out, mu, logvar = self(x)
        sigma = self.log_sigma.clamp(-4, 1)
        nll = 0.5 * ((x - out) / sigma.exp()) ** 2 + sigma + 0.5 * math.log(2 * math.pi)
        kl = 0.5 * (mu ** 2 + logvar.exp() - 1 - logvar)
        return nll.sum(1).mean(), kl.mean(0)


model = TideVAE()
opt = torch.optim.Adam([
    {"params": [p for n, p in model.named_parameters() if n != "log_sigma"], "lr": 2e-3},
    {"params": [model.log_sigma], "lr": 1e-2},
])
EPOCHS, WARM = 30, 10
for epoch in range(EPOCHS):
    beta = min(1.0, (epoch + 1) / WARM)
    model.train()
    sums = np.zeros(3)
    for (xb,) in loader:
        nll, kl_dims = model.terms(xb)
        kl_free = kl_dims.clamp(min=0.05).sum()
        loss = nll + beta * kl_free
        opt.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 50.0)
        opt.step()
        sums += [loss.item(), nll.item(), kl_dims.sum().item()]
    if (epoch + 1) % 3 == 0:
        model.eval()
        with torch.no_grad():
            nll, kl = model.terms(held_out)
            rec, _, _ = model(held_out)
            rmse = (rec - held_out).pow(2).mean().sqrt().item()
        a, b, c = sums / len(loader)
        print(
            f"epoch {epoch + 1:2d} beta {beta:.1f} loss {a:8.3f} nll {b:8.3f} kl {c:6.3f} | held-out -elbo {nll + kl.sum():8.3f}"
            f" rmse {rmse:.3f} sigma {model.log_sigma.exp():.3f}"
        )

base = (held_out - train.mean(0)).pow(2).mean().sqrt().item()
print(f"baseline rmse (mean curve) {base:.3f}, reconstruction rmse {rmse:.3f}")
