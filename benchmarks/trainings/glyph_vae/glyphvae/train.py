import argparse

import torch
from sklearn.linear_model import LogisticRegression

from . import VAE, digit_loaders
from .losses import elbo_terms


def collect(model, loader):
    model.eval()
    zs, ys, err = [], [], []
    with torch.no_grad():
        for x, y in loader:
            mu, _ = model.encode(x)
            zs.append(mu)
            ys.append(y)
            err.append((model.dec(mu) - x).pow(2).mean(1))
    return torch.cat(zs).numpy(), torch.cat(ys).numpy(), torch.cat(err).mean().item()


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--epochs", type=int, default=40)
    ap.add_argument("--batch-size", type=int, default=64)
    ap.add_argument("--lr", type=float, default=2e-3)
    ap.add_argument("--latent", type=int, default=8)
    ap.add_argument("--seed", type=int, default=0)
    args = ap.parse_args()
    torch.manual_seed(args.seed)
    train, test = digit_loaders(args.batch_size, args.seed)
    model = VAE(latent=args.latent)
    opt = torch.optim.Adam(model.parameters(), lr=args.lr)
    for epoch in range(1, args.epochs + 1):
        model.train()
        r_sum = k_sum = 0.0
        for x, _ in train:
            recon, mu, logvar = model(x)
            rec, kl = elbo_terms(x, recon, mu, logvar)
            loss = rec + kl
            opt.zero_grad()
            loss.backward()
            opt.step()
            r_sum += rec.item()
            k_sum += kl.item()
        if epoch % 10 == 0:
            print(f"epoch {epoch} rec {r_sum / len(train):.4f} kl {k_sum / len(train):.4f}")
    ztr, ytr, _ = collect(model, train)
    zte, yte, mse = collect(model, test)
    probe = LogisticRegression(max_iter=500).fit(ztr, ytr).score(zte, yte)
    print(f"test reconstruction mse {mse:.4f}  latent probe accuracy {probe:.3f}")


if __name__ == "__main__":
    main()
