"""Variational autoencoder for the scikit-learn digits."""
import torch
import torch.nn.functional as F
from sklearn.datasets import load_digits
from torch import nn, optim
from torch.utils.data import DataLoader, random_split


class DigitVAE(nn.Module):
    def __init__(self, hidden=128, latent=8):
        super().__init__()
        self.encoder = nn.Sequential(nn.Linear(64, hidden), nn.ReLU(), nn.Linear(hidden, hidden), nn.ReLU())
        self.to_mu = nn.Linear(hidden, latent)
        self.to_logvar = nn.Linear(hidden, latent)
        self.decoder = nn.Sequential(nn.Linear(latent, hidden), nn.ReLU(), nn.Linear(hidden, 64))

    def encode(self, x):
        h = self.encoder(x)
        return self.to_mu(h), self.to_logvar(h)

    def reparameterize(self, mu, logvar):
        return mu + torch.randn_like(mu) * torch.exp(0.5 * logvar)

    def forward(self, x):
        mu, logvar = self.encode(x)
        z = self.reparameterize(mu, logvar)
        return self.decoder(z), mu, logvar


def loss_function(logits, x, mu, logvar):
    recon = F.binary_cross_entropy_with_logits(logits, x)
    kl = -0.5 * torch.sum(1 + logvar - mu.pow(2) - logvar.exp())
    return recon + kl, recon, kl


def train_epoch(model, loader, optimizer):
    model.train()
    sums = torch.zeros(3)
    for x in loader:
        optimizer.zero_grad()
        logits, mu, logvar = model(x)
        loss, recon, kl = loss_function(logits, x, mu, logvar)
        loss.backward()
        optimizer.step()
        sums += torch.tensor([loss.item(), recon.item(), kl.item()])
    return (sums / len(loader)).tolist()


@torch.no_grad()
def evaluate(model, loader):
    model.eval()
    errors, active = [], []
    for x in loader:
        mu, _ = model.encode(x)
        errors.append(((torch.sigmoid(model.decoder(mu)) - x) ** 2).mean(1))
        active.append(mu)
    spread = torch.cat(active).var(0)
    return torch.cat(errors).mean().item(), int((spread > 1e-2).sum())


def main():
    torch.manual_seed(6)
    images = torch.tensor(load_digits().data / 16.0, dtype=torch.float32)
    train_set, test_set = random_split(images, [1500, len(images) - 1500])
    train_loader = DataLoader(train_set, batch_size=64, shuffle=True)
    test_loader = DataLoader(test_set, batch_size=300)
    model = DigitVAE()
    optimizer = optim.Adam(model.parameters(), lr=1e-3)
    for epoch in range(1, 41):
        loss, recon, kl = train_epoch(model, train_loader, optimizer)
        if epoch % 8 == 0:
            mse, active = evaluate(model, test_loader)
            print(f"epoch {epoch} loss {loss:.4f} recon {recon:.4f} kl {kl:.4f} | test mse {mse:.4f} active latents {active}")
    baseline = images[test_set.indices].var(0, correction=0).mean().item()
    print(f"variance of the test pixels {baseline:.4f}")
    with torch.no_grad():
        samples = torch.sigmoid(model.decoder(torch.randn(64, 8)))
    print(f"spread over samples {samples.std(0).mean():.4f}")


if __name__ == "__main__":
    main()
