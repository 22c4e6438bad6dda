"""Variational autoencoder for 8x8 digit sketches, with a k-NN probe of the latent space."""
import numpy as np
import torch
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from sklearn.neighbors import KNeighborsClassifier
from torch import nn
from torch.nn import functional as F
from torch.utils.data import DataLoader, TensorDataset

SEED, LATENT, EPOCHS = 31, 8, 40


class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(64, 128), nn.ReLU(), nn.Linear(128, 64), nn.ReLU())
        self.to_mu = nn.Linear(64, LATENT)
        self.to_logvar = nn.Linear(64, LATENT)

    def forward(self, x):
        h = self.body(x)
        return self.to_mu(h), self.to_logvar(h)


class Decoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(LATENT, 64), nn.ReLU(), nn.Linear(64, 128), nn.ReLU(), nn.Linear(128, 64))

    def forward(self, z):
        return self.body(z)


class VAE(nn.Module):
    def __init__(self):
        super().__init__()
        self.enc, self.dec = Encoder(), Decoder()

    def forward(self, x):
        mu, logvar = self.enc(x)
        z = mu + torch.randn_like(mu) * (0.5 * logvar).exp()
        return self.dec(z), mu, logvar


def vae_loss(x_logits, x, mu, logvar):
    recon = F.binary_cross_entropy_with_logits(x_logits, x)
    kl = -0.5 * torch.sum(1 + logvar - mu.pow(2) - logvar.exp(), dim=1).mean()
    return recon + kl, recon, kl


@torch.no_grad()
def probe(model, x_train, y_train, x_test, y_test):
    model.eval()
    z_train, z_test = model.enc(x_train)[0].numpy(), model.enc(x_test)[0].numpy()
    knn = KNeighborsClassifier(5).fit(z_train, y_train)
    recon = torch.sigmoid(model.dec(model.enc(x_test)[0]))
    return knn.score(z_test, y_test), F.mse_loss(recon, x_test).item()


def main():
    torch.manual_seed(SEED)
    np.random.seed(SEED)
    x, y = load_digits(return_X_y=True)
    x = (x / 16.0).astype(np.float32)
    x_train, x_test, y_train, y_test = train_test_split(x, y, test_size=0.2, random_state=SEED, stratify=y)
    x_train, x_test = torch.from_numpy(x_train), torch.from_numpy(x_test)
    loader = DataLoader(TensorDataset(x_train), batch_size=64, shuffle=True)

    vae = VAE()
    opt = torch.optim.Adam(vae.parameters(), lr=2e-3)
    for epoch in range(1, EPOCHS + 1):
        vae.train()
        sums = np.zeros(3)
        for (xb,) in loader:
            logits, mu, logvar = vae(xb)
            loss, recon, kl = vae_loss(logits, xb, mu, logvar)
            opt.zero_grad()
            loss.backward()
            opt.step()
            sums += [loss.item(), recon.item(), kl.item()]
        if epoch % 5 == 0:
            total, rec, kl_avg = sums / len(loader)
            knn_acc, mse = probe(vae, x_train, y_train, x_test, y_test)
            print(f"epoch {epoch:3d} elbo loss {total:.4f} (recon {rec:.4f} kl {kl_avg:.4f}) "
                  f"test recon mse {mse:.4f} knn acc {knn_acc:.3f}")


if __name__ == "__main__":
    main()
