"""VAE for 8x8 digits with a learned output noise, KL warm-up and free bits."""
import math

import torch
from sklearn.datasets import load_digits
from torch import nn
from torch.distributions import Normal, kl_divergence

torch.manual_seed(8)
Z, FREE_BITS, WARMUP, EPOCHS = 6, 0.05, 6, 24


class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.trunk = nn.Sequential(nn.Linear(64, 128), nn.ELU(), nn.Linear(128, 64), nn.ELU())
        self.mean = nn.Linear(64, Z)
        self.rho = nn.Linear(64, Z)

    def forward(self, x):
        h = self.trunk(x)
        return Normal(self.mean(h), nn.functional.softplus(self.rho(h)) + 1e-3)


class Decoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(Z, 64), nn.ELU(), nn.Linear(64, 128), nn.ELU(), nn.Linear(128, 64))
        self.log_sigma = nn.Parameter(torch.full((64,), -1.5))

    def forward(self, z):
        return Normal(self.net(z), self.log_sigma.clamp(min=-4).exp())


def elbo_terms(enc, dec, x):
    q = enc(x)
    p = dec(q.rsample())
    log_px = p.log_prob(x).sum(-1).mean()
    kl_dims = kl_divergence(q, Normal(0.0, 1.0)).mean(0)
    return log_px, kl_dims


images = torch.tensor(load_digits().data, dtype=torch.float32) / 16
order = torch.randperm(len(images))
train, held = images[order[:1500]], images[order[1500:]]
# dequantise once, so that the density is well defined on the grid of 17 grey values
train = train + (torch.rand_like(train) - 0.5) / 16
held = held + (torch.rand_like(held) - 0.5) / 16

enc, dec = Encoder(), Decoder()
opt = torch.optim.Adamax([*enc.parameters(), *dec.parameters()], lr=1e-2)
flat = Normal(train.mean(0), train.std(0) + 1e-3)
print(f"independent Gaussian pixels: held-out log p(x) {flat.log_prob(held).clamp(min=-1e3).sum(-1).mean():.1f} nats")

for epoch in range(1, EPOCHS + 1):
    beta = min(1.0, epoch / WARMUP)
    enc.train(), dec.train()
    for idx in torch.randperm(len(train)).split(50):
        log_px, kl = elbo_terms(enc, dec, train[idx])
        # a latent may keep FREE_BITS nats without being charged for it
        objective = log_px - beta * kl.clamp(min=FREE_BITS).sum()
        opt.zero_grad()
        (-objective).backward()
        nn.utils.clip_grad_norm_([*enc.parameters(), *dec.parameters()], 200.0)
        opt.step()
    enc.eval(), dec.eval()
    with torch.no_grad():
        log_px, kl = elbo_terms(enc, dec, held)
        mse = (dec(enc(held).mean).mean - held).pow(2).mean().item()
    if epoch % 4 == 0:
        active = int((kl > 0.1).sum())
        print(f"epoch {epoch:2d}  beta {beta:.2f}  held-out ELBO {log_px - kl.sum():7.2f}  KL {kl.sum():5.2f}  recon mse {mse:.4f}  active {active}/{Z}")

base = (train.mean(0) - held).pow(2).mean().item()
with torch.no_grad():
    draws = dec(torch.randn(500, Z)).mean
    near = torch.cdist(draws, train).min(1).values.mean().item() / math.sqrt(64)
print(f"mean-image mse {base:.4f}; samples' rms distance to nearest training image {near:.3f}")
