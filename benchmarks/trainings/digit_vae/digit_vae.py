"""Variational autoencoder for 8x8 digits."""

import torch
from sklearn.datasets import load_digits
from torch import nn, optim
from torch.nn import functional as F
from torch.utils.data import DataLoader, TensorDataset

LATENT = 10
EPOCHS = 25


class VAE(nn.Module):
    def __init__(self, inputs=64, hidden=128, latent=LATENT):
        super().__init__()
        self.enc = nn.Sequential(nn.Linear(inputs, hidden), nn.ReLU(), nn.Linear(hidden, hidden), nn.ReLU())
        self.fc_mu = nn.Linear(hidden, latent)
        self.fc_logvar = nn.Linear(hidden, latent)
        self.dec = nn.Sequential(
            nn.Linear(latent, hidden), nn.ReLU(), nn.Linear(hidden, hidden), nn.ReLU(), nn.Linear(hidden, inputs)
        )

    def encode(self, x):
        h = self.enc(x)
        return self.fc_mu(h), self.fc_logvar(h)

    def reparameterize(self, mu, logvar):
        std = torch.exp(0.5 * logvar)
        return mu + std * torch.randn_like(std)

    def decode(self, z):
        return torch.sigmoid(self.dec(z))

    def forward(self, x):
        mu, logvar = self.encode(x)
        return self.decode(self.reparameterize(mu, logvar)), mu, logvar


def loss_function(recon, x, mu, logvar):
    bce = F.binary_cross_entropy(recon, x, reduction="mean")
    kld = -0.5 * torch.sum(1 + logvar - mu.pow(2) - logvar.exp())
    return bce + kld, bce, kld


def train(model, loader, optimizer):
    model.train()
    sums = torch.zeros(3)
    for (x,) in loader:
        recon, mu, logvar = model(x)
        loss, bce, kld = loss_function(recon, x, mu, logvar)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        sums += torch.tensor([loss.item(), bce.item(), kld.item()])
    return (sums / len(loader)).tolist()


@torch.no_grad()
def test(model, x):
    model.eval()
    mu, logvar = model.encode(x)
    recon = model.decode(mu)
    mse = F.mse_loss(recon, x).item()
    baseline = (x - x.mean(0)).pow(2).mean().item()
    active = (mu.var(dim=0) > 0.01).sum().item()
    return mse, baseline, active


def main():
    torch.manual_seed(2)
    x = torch.tensor(load_digits().images.reshape(-1, 64) / 16.0, dtype=torch.float32)
    x = x[torch.randperm(len(x))]
    train_x, test_x = x[:1500], x[1500:]
    loader = DataLoader(TensorDataset(train_x), batch_size=64, shuffle=True)
    model = VAE()
    optimizer = optim.Adam(model.parameters(), lr=1e-3)
    for epoch in range(1, EPOCHS + 1):
        loss, bce, kld = train(model, loader, optimizer)
        if epoch % 5 == 0:
            mse, baseline, active = test(model, test_x)
            print(
                f"epoch {epoch}: loss {loss:.4f} recon {bce:.4f} kl {kld:.5f} | "
                f"test mse {mse:.4f} (mean image {baseline:.4f}) active units {active}/{LATENT}"
            )


if __name__ == "__main__":
    main()
