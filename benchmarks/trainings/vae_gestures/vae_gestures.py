"""Sequence-free VAE for hand gesture curves, class style with a small registry of priors."""
import numpy as np
import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset

POINTS = 20


def gestures(n, seed):
    rng = np.random.default_rng(seed)
    t = np.linspace(0, 2 * np.pi, POINTS)
    a, b = rng.integers(1, 4, (2, n, 1))
    shift = rng.uniform(0, np.pi, (n, 1))
    scale = rng.uniform(0.6, 1.2, (n, 1))
    x, y = scale * np.sin(a * t + shift), scale * np.sin(b * t)
    curve = np.stack([x, y], -1) + rng.normal(0, 0.03, (n, POINTS, 2))
    return torch.tensor(curve.reshape(n, -1), dtype=torch.float32)


class StandardNormalPrior:
    def divergence(self, mean, log_var):
        return 0.5 * (1 + log_var - mean**2 - log_var.exp()).sum(dim=1)

    def sample(self, n, dim):
        return torch.randn(n, dim)


class GestureVAE(nn.Module):
    def __init__(self, prior, latent=6, hidden=96):
        super().__init__()
        self.prior, self.latent = prior, latent
        self.enc = nn.Sequential(nn.Linear(2 * POINTS, hidden), nn.Tanh(), nn.Linear(hidden, 2 * latent))
        self.dec = nn.Sequential(
            nn.Linear(latent, hidden), nn.Tanh(), nn.Linear(hidden, hidden), nn.Tanh(), nn.Linear(hidden, 2 * POINTS)
        )

    def forward(self, x):
        mean, log_var = self.enc(x).chunk(2, dim=1)
        z = mean + torch.randn_like(mean) * (0.5 * log_var).exp()
        return self.dec(z), mean, log_var

    def losses(self, x):
        out, mean, log_var = self(x)
        recon = ((out - x) ** 2).sum(dim=1) / (2 * 0.1**2)
        return recon.mean(), self.prior.divergence(mean, log_var).mean()


class VAETrainer:
    def __init__(self, model, lr=1e-3, beta=1.0):
        self.model, self.beta = model, beta
        self.opt = torch.optim.Adam(model.parameters(), lr=lr)

    def fit(self, loader, val, epochs):
        for epoch in range(epochs):
            self.model.train()
            total = 0.0
            for (x,) in loader:
                recon, kl = self.model.losses(x)
                loss = recon + self.beta * kl
                self.opt.zero_grad()
                loss.backward()
                nn.utils.clip_grad_norm_(self.model.parameters(), 50.0)
                self.opt.step()
                total += loss.item()
            if epoch % 5 == 4:
                recon, kl, roughness = self.check(val)
                print(f"epoch {epoch + 1} loss {total / len(loader):.2f} val recon {recon:.2f} kl {kl:.2f} sample roughness {roughness:.3f}")

    @torch.no_grad()
    def check(self, val):
        self.model.eval()
        recon, kl = self.model.losses(val)
        samples = self.model.dec(self.model.prior.sample(500, self.model.latent)).view(-1, POINTS, 2)
        roughness = (samples[:, 2:] - 2 * samples[:, 1:-1] + samples[:, :-2]).norm(dim=-1).mean()
        return recon.item(), kl.item(), roughness.item()


if __name__ == "__main__":
    torch.manual_seed(14)
    loader = DataLoader(TensorDataset(gestures(5000, 0)), batch_size=100, shuffle=True)
    val = gestures(1000, 1)
    real = val.view(-1, POINTS, 2)
    print("roughness of real curves", (real[:, 2:] - 2 * real[:, 1:-1] + real[:, :-2]).norm(dim=-1).mean().item())
    VAETrainer(GestureVAE(StandardNormalPrior())).fit(loader, val, epochs=15)
