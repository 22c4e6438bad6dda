"""A VAE of the iris measurements, widened with products: latent space of two for a scatter plot."""

import torch
import torch.nn.functional as F
from sklearn.datasets import load_iris
from sklearn.neighbors import KNeighborsClassifier
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(14)
iris = load_iris()
x = torch.tensor(iris.data, dtype=torch.float32)
x = (x - x.mean(0)) / x.std(0)
pairs = torch.stack([x[:, i] * x[:, j] for i in range(4) for j in range(i, 4)], dim=1)
x = torch.cat([x, (pairs - pairs.mean(0)) / pairs.std(0)], dim=1)
y = torch.tensor(iris.target)
loader = DataLoader(TensorDataset(x), batch_size=30, shuffle=True)


class IrisVAE(nn.Module):
    def __init__(self, inputs, hidden=32, latent=2):
        super().__init__()
        self.enc = nn.Sequential(nn.Linear(inputs, hidden), nn.Tanh())
        self.mu = nn.Linear(hidden, latent)
        self.logvar = nn.Linear(hidden, latent)
        self.dec = nn.Sequential(nn.Linear(latent, hidden), nn.Tanh(), nn.Linear(hidden, inputs))

    def forward(self, x):
        h = self.enc(x)
        mu, logvar = self.mu(h), self.logvar(h)
        z = mu + torch.randn_like(mu) * torch.exp(0.5 * logvar)
        return self.dec(z), mu, logvar


def vae_loss(recon, x, mu, logvar):
    recon_loss = F.mse_loss(recon, x)
    kl = -0.5 * torch.sum(1 + logvar - mu.pow(2) - logvar.exp())
    return recon_loss + kl, recon_loss, kl


model = IrisVAE(x.shape[1])
optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)

for epoch in range(1, 81):
    model.train()
    sums = torch.zeros(3)
    for (xb,) in loader:
        recon, mu, logvar = model(xb)
        loss, recon_loss, kl = vae_loss(recon, xb, mu, logvar)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        sums += torch.tensor([loss.item(), recon_loss.item(), kl.item()])
    if epoch % 20 == 0:
        total, rec, kld = (sums / len(loader)).tolist()
        print(f"epoch {epoch:3d} loss {total:.3f} recon {rec:.3f} kl {kld:.3f}")

model.eval()
with torch.no_grad():
    mu = model.mu(model.enc(x))
    recon = model.dec(mu)
spread = mu.std(0).mean().item()
explained = 1 - ((recon - x) ** 2).mean().item() / x.var().item()
neighbours = KNeighborsClassifier(5).fit(mu[::2].numpy(), y[::2].numpy()).score(mu[1::2].numpy(), y[1::2].numpy())
print(f"spread of the latent means {spread:.4f}, variance explained {explained:.3f}, 5-NN in latent space {neighbours:.3f}")
