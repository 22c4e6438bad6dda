"""Variational autoencoder on the 8x8 digits (stand-in for scanned postmarks)."""
import argparse

import numpy as np
import torch
from sklearn.datasets import load_digits
from sklearn.linear_model import LogisticRegression
from torch import nn
from torch.nn import functional as F


class VAE(nn.Module):
    def __init__(self, latent=8, hidden=128):
        super().__init__()
        self.enc = nn.Sequential(nn.Linear(64, hidden), nn.ReLU())
        self.mu = nn.Linear(hidden, latent)
        self.logvar = nn.Linear(hidden, latent)
        self.dec = nn.Sequential(nn.Linear(latent, hidden), nn.ReLU(), nn.Linear(hidden, 64))

    def encode(self, x):
        h = self.enc(x)
        return self.mu(h), self.logvar(h)

    def forward(self, x):
        mu, logvar = self.encode(x)
        z = mu + torch.randn_like(mu) * (0.5 * logvar).exp()
        return self.dec(z), mu, logvar


def vae_loss(recon, x, mu, logvar):
    rec = F.binary_cross_entropy_with_logits(recon, x)
    kld = -0.5 * torch.sum(1 + logvar - mu.pow(2) - logvar.exp(), dim=1).mean()
    return rec + kld, rec, kld


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--epochs", type=int, default=25)
    ap.add_argument("--latent", type=int, default=8)
    args = ap.parse_args()
    torch.manual_seed(0)
    d = load_digits()
    order = np.random.RandomState(0).permutation(len(d.target))
    x = torch.tensor(d.data[order] / 16, dtype=torch.float32)
    y = d.target[order]
    x_tr, x_te, y_tr, y_te = x[:1300], x[1300:], y[:1300], y[1300:]
    model = VAE(args.latent)
    opt = torch.optim.Adam(model.parameters(), lr=2e-3)
    for epoch in range(1, args.epochs + 1):
        model.train()
        sums = np.zeros(3)
        for idx in torch.randperm(len(x_tr)).split(32):
            recon, mu, logvar = model(x_tr[idx])
            loss, rec, kld = vae_loss(recon, x_tr[idx], mu, logvar)
            opt.zero_grad()
            loss.backward()
            opt.step()
            sums += np.array([loss.item(), rec.item(), kld.item()]) * len(idx)
        if epoch % 5 == 0:
            print("epoch %d total %.4f reconstruction %.4f kl %.4f" % (epoch, *(sums / len(x_tr))))
    model.eval()
    with torch.no_grad():
        mu_tr, _ = model.encode(x_tr)
        mu_te, _ = model.encode(x_te)
        mse = F.mse_loss(torch.sigmoid(model.dec(mu_te)), x_te).item()
    base = F.mse_loss(x_tr.mean(0).expand_as(x_te), x_te).item()
    probe = LogisticRegression(max_iter=1000).fit(mu_tr.numpy(), y_tr).score(mu_te.numpy(), y_te)
    print(f"test reconstruction mse {mse:.4f} (mean picture {base:.4f}), digit from latent {probe:.3f}")


if __name__ == "__main__":
    main()
