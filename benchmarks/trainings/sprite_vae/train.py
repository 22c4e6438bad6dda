"""VAE on 12x12 sprites (rectangles, crosses, rings). Reports reconstruction, KL and how well the latent code
tells the shapes apart."""
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from sklearn.linear_model import LogisticRegression
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(64)
rng = np.random.default_rng(64)
SIDE, LATENT = 12, 6


def sprite(kind):
    img = np.zeros((SIDE, SIDE), dtype="float32")
    cy, cx, r = rng.integers(4, 8), rng.integers(4, 8), rng.integers(2, 5)
    yy, xx = np.mgrid[:SIDE, :SIDE]
    dy, dx = np.abs(yy - cy), np.abs(xx - cx)
    if kind == 0:
        img[(dy <= r - 1) & (dx <= r)] = 1
    elif kind == 1:
        img[((dy <= 0) & (dx <= r)) | ((dx <= 0) & (dy <= r))] = 1
    else:
        d = np.sqrt(dy ** 2 + dx ** 2)
        img[(d <= r + 0.3) & (d > r - 1)] = 1
    return img


def sprites(n):
    kinds = rng.integers(3, size=n)
    return torch.from_numpy(np.stack([sprite(k) for k in kinds])), kinds


class VAE(nn.Module):
    def __init__(self, hidden=128, latent=LATENT):
        super().__init__()
        self.enc = nn.Sequential(nn.Flatten(), nn.Linear(SIDE * SIDE, hidden), nn.ReLU(), nn.Linear(hidden, hidden), nn.ReLU())
        self.mu = nn.Linear(hidden, latent)
        self.logvar = nn.Linear(hidden, latent)
        self.dec = nn.Sequential(
            nn.Linear(latent, hidden), nn.ReLU(), nn.Linear(hidden, hidden), nn.ReLU(), nn.Linear(hidden, SIDE * SIDE)
        )

    def encode(self, x):
        h = self.enc(x)
        return self.mu(h), self.logvar(h)

    def forward(self, x):
        mu, logvar = self.encode(x)
        z = mu + torch.randn_like(mu) * torch.exp(0.5 * logvar)
        return self.dec(z).view(-1, SIDE, SIDE), mu, logvar


def elbo_loss(logits, x, mu, logvar):
    recon = F.binary_cross_entropy_with_logits(logits, x)
    kl = -0.5 * torch.sum(1 + logvar - mu.pow(2) - logvar.exp(), dim=1).mean()
    return recon + kl, recon, kl


@torch.no_grad()
def report(model, x, kinds, x_fit, kinds_fit):
    model.eval()
    mu, logvar = model.encode(x)
    logits = model.dec(mu).view(-1, SIDE, SIDE)
    _, recon, kl = elbo_loss(logits, x, mu, logvar)
    wrong = ((logits > 0).float() != x).float().mean().item()
    probe = LogisticRegression(max_iter=500).fit(model.encode(x_fit)[0].numpy(), kinds_fit)
    return recon.item(), kl.item(), wrong, probe.score(mu.numpy(), kinds)


def main():
    x_train, k_train = sprites(4000)
    x_test, k_test = sprites(800)
    loader = DataLoader(TensorDataset(x_train), batch_size=64, shuffle=True)
    model = VAE()
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    for epoch in range(1, 21):
        model.train()
        total = 0.0
        for (x,) in loader:
            logits, mu, logvar = model(x)
            loss, _, _ = elbo_loss(logits, x, mu, logvar)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            total += loss.item()
        if epoch % 4 == 0 or epoch == 1:
            recon, kl, wrong, shape_acc = report(model, x_test, k_test, x_train[:1000], k_train[:1000])
            print(f"epoch {epoch:2d} loss {total / len(loader):.4f} | test recon {recon:.4f} kl {kl:.3f} "
                  f"wrong pixels {wrong:.3f} shape probe acc {shape_acc:.3f}")
    print(f"all-black image: wrong pixels {x_test.mean():.3f}")


if __name__ == "__main__":
    main()
