"""Convolutional beta-VAE with KL warm-up and free bits; the total loss climbs while the KL weight is raised."""
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset

KL_WARMUP = 250
FREE_BITS = 0.05
BETA = 1.0


def blobs(n, seed, size=16):
    rng = np.random.default_rng(seed)
    yy, xx = np.mgrid[:size, :size]
    cx, cy = rng.uniform(4, 12, (2, n, 1, 1))
    sx, sy = rng.uniform(1.2, 3.0, (2, n, 1, 1))
    img = np.exp(-((xx - cx) ** 2 / (2 * sx**2) + (yy - cy) ** 2 / (2 * sy**2)))
    return torch.tensor(img, dtype=torch.float32).unsqueeze(1)


class ConvVAE(nn.Module):
    def __init__(self, latent=8):
        super().__init__()
        self.encoder = nn.Sequential(
            nn.Conv2d(1, 12, 4, 2, 1), nn.SiLU(), nn.Conv2d(12, 32, 4, 2, 1), nn.SiLU(), nn.Flatten(), nn.Linear(512, 2 * latent)
        )
        self.expand = nn.Linear(latent, 512)
        self.decoder = nn.Sequential(
            nn.SiLU(), nn.ConvTranspose2d(32, 12, 4, 2, 1), nn.SiLU(), nn.ConvTranspose2d(12, 1, 4, 2, 1)
        )

    def decode(self, z):
        return self.decoder(self.expand(z).view(-1, 32, 4, 4))

    def forward(self, x):
        mu, logvar = self.encoder(x).chunk(2, dim=1)
        logvar = logvar.clamp(-8, 4)
        z = mu + torch.exp(0.5 * logvar) * torch.randn_like(mu)
        return self.decode(z), mu, logvar


def elbo_terms(logits, x, mu, logvar):
    recon = F.binary_cross_entropy_with_logits(logits, x, reduction="none").sum(dim=(1, 2, 3)).mean()
    kl_by_dim = 0.5 * (mu.pow(2) + logvar.exp() - 1 - logvar).mean(0)
    return recon, kl_by_dim


@torch.no_grad()
def evaluate(model, images):
    model.eval()
    logits, mu, logvar = model(images)
    recon, kl = elbo_terms(logits, images, mu, logvar)
    mse = F.mse_loss(torch.sigmoid(logits), images).item()
    return recon.item(), kl.sum().item(), mse, int((mu.var(0) > 0.02).sum())


def main():
    torch.manual_seed(2)
    train, test = blobs(1600, 0), blobs(300, 1)
    loader = DataLoader(TensorDataset(train), batch_size=32, shuffle=True, drop_last=True)
    model = ConvVAE()
    optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
    step = 0
    for epoch in range(1, 11):
        model.train()
        for (x,) in loader:
            weight = BETA * min(1.0, step / KL_WARMUP)
            recon, kl_by_dim = elbo_terms(*((out := model(x))[0], x, out[1], out[2]))
            loss = recon + weight * kl_by_dim.clamp(min=FREE_BITS).sum()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            step += 1
        if epoch % 2 == 0:
            recon, kl, mse, active = evaluate(model, test)
            print(f"epoch {epoch} beta {weight:.2f} loss {loss.item():.2f} | test recon {recon:.2f} kl {kl:.2f} mse {mse:.5f} active {active}")
    print(f"pixel variance of the test images {test.var(0).mean().item():.5f}")


if __name__ == "__main__":
    main()
