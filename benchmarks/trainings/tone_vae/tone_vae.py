"""VAE of tone spectra with a learned Gaussian output noise; KL is brought in over the first epochs.

The objective is a negative log density and becomes negative as the noise estimate shrinks.
"""
import math

import numpy as np
import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset

BINS, LATENT, EPOCHS, KL_RAMP = 40, 3, 45, 8


def spectra(n, seed):
    """One formant: position, width and loudness vary, so three latent numbers are enough."""
    rng = np.random.default_rng(seed)
    f = np.linspace(0, 1, BINS)
    pos, width, loud = rng.uniform(0.25, 0.75, (n, 1)), rng.uniform(0.08, 0.18, (n, 1)), rng.uniform(0.5, 1.5, (n, 1))
    s = loud * np.exp(-0.5 * ((f - pos) / width) ** 2) + rng.normal(0, 0.05, (n, BINS))
    return torch.tensor(s, dtype=torch.float32)


class ToneVAE(nn.Module):
    def __init__(self, hidden=96):
        super().__init__()
        self.enc = nn.Sequential(nn.Linear(BINS, hidden), nn.SiLU(), nn.Linear(hidden, 2 * LATENT))
        self.dec = nn.Sequential(nn.Linear(LATENT, hidden), nn.SiLU(), nn.Linear(hidden, BINS))
        self.log_sigma = nn.Parameter(torch.zeros(()))

    def forward(self, x):
        mu, logvar = self.enc(x).chunk(2, dim=1)
        z = mu + torch.randn_like(mu) * torch.exp(0.5 * logvar)
        return self.dec(z), mu, logvar

    def terms(self, x):
        """Negative log likelihood and KL, both summed over dimensions and averaged over the batch."""
        mean, mu, logvar = self(x)
        z2 = ((x - mean) / self.log_sigma.exp()) ** 2
        nll = (0.5 * z2 + self.log_sigma + 0.5 * math.log(2 * math.pi)).sum(1).mean()
        kl = 0.5 * (mu**2 + logvar.exp() - 1 - logvar).sum(1).mean()
        return nll, kl


@torch.no_grad()
def report(model, x):
    model.eval()
    nll, kl = model.terms(x)
    mu = model.enc(x)[:, :LATENT]
    rmse = (model.dec(mu) - x).pow(2).mean().sqrt().item()
    model.train()
    return (nll + kl).item(), kl.item(), rmse


def main():
    torch.manual_seed(50)
    train, test = spectra(2500, 0), spectra(500, 1)
    loader = DataLoader(TensorDataset(train), batch_size=64, shuffle=True)
    vae = ToneVAE()
    opt = torch.optim.Adam(vae.parameters(), lr=3e-3)
    for epoch in range(1, EPOCHS + 1):
        beta = min(1.0, epoch / KL_RAMP)
        total = 0.0
        for (x,) in loader:
            nll, kl = vae.terms(x)
            loss = nll + beta * kl
            opt.zero_grad()
            loss.backward()
            opt.step()
            total += loss.item()
        if epoch % 9 == 0:
            neg_elbo, kl_test, rmse = report(vae, test)
            print(f"epoch {epoch:2d} beta {beta:.2f} train loss {total / len(loader):+.3f} test -ELBO {neg_elbo:+.3f} "
                  f"KL {kl_test:.2f} recon rmse {rmse:.4f} sigma {vae.log_sigma.exp().item():.4f}")


if __name__ == "__main__":
    main()
