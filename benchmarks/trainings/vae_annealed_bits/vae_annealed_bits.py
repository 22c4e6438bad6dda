"""VAE of binary bar pictures: KL weight raised over the first epochs, and a floor of free bits per latent unit."""

import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(33)
SIDE, LATENT = 8, 10


def bars(n):
    """Any set of rows and columns is lit; every picture is one of a finite number, so repetitions happen."""
    rows = torch.rand(n, SIDE) < 0.2
    columns = torch.rand(n, SIDE) < 0.2
    return (rows.unsqueeze(2) | columns.unsqueeze(1)).float().unsqueeze(1)


class BarVAE(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder = nn.Sequential(
            nn.Conv2d(1, 16, 3, stride=2, padding=1), nn.ReLU(), nn.Flatten(), nn.Linear(256, 96), nn.ReLU()
        )
        self.to_mu, self.to_logvar = nn.Linear(96, LATENT), nn.Linear(96, LATENT)
        self.decoder = nn.Sequential(nn.Linear(LATENT, 96), nn.ReLU(), nn.Linear(96, SIDE * SIDE))

    def forward(self, x):
        h = self.encoder(x)
        mu, logvar = self.to_mu(h), self.to_logvar(h)
        z = mu + torch.randn_like(mu) * (logvar / 2).exp() if self.training else mu
        return self.decoder(z).view(-1, 1, SIDE, SIDE), mu, logvar


def losses(model, x, free_bits=0.05):
    logits, mu, logvar = model(x)
    reconstruction = F.binary_cross_entropy_with_logits(logits, x, reduction="none").flatten(1).sum(1).mean()
    per_unit = (-0.5 * (1 + logvar - mu.pow(2) - logvar.exp())).mean(0)
    return reconstruction, per_unit.clamp(min=free_bits).sum(), logits


def main(epochs=20, warm_up=8):
    train, test = bars(3000), bars(600)
    loader = DataLoader(TensorDataset(train), batch_size=60, shuffle=True)
    model = BarVAE()
    optimizer = torch.optim.AdamW(model.parameters(), lr=2e-3)
    for epoch in range(epochs):
        beta = min(1.0, epoch / warm_up)  # 0 in the first epoch: an autoencoder to begin with
        model.train()
        total = 0.0
        for (x,) in loader:
            reconstruction, kl, _ = losses(model, x)
            loss = reconstruction + beta * kl
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            total += loss.item()
        model.eval()
        with torch.no_grad():
            reconstruction, kl, logits = losses(model, test)
            right = ((logits > 0) == (test > 0.5)).float().mean().item()
        # The loss rises while beta does: that is the schedule, not a divergence.
        print(
            f"epoch {epoch:2d} beta {beta:.2f} loss {total / len(loader):.2f} "
            f"test recon {reconstruction.item():.2f} kl {kl.item():.2f} pixels right {right:.4f}"
        )


if __name__ == "__main__":
    main()
