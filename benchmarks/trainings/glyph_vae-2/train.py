# VAE on the 8x8 digits with free bits and a slowly raised KL weight.
import numpy as np
import torch
import torch.nn.functional as F
from sklearn.datasets import load_digits
from sklearn.neighbors import KNeighborsClassifier
from torch import nn
from torch.distributions import Bernoulli, Normal, kl_divergence

SEED = 21
LATENT = 6
FREE_BITS = 0.1
EPOCHS = 20
BATCH = 64


class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.trunk = nn.Sequential(nn.Linear(64, 128), nn.SiLU(), nn.Linear(128, 128), nn.SiLU())
        self.loc = nn.Linear(128, LATENT)
        self.raw_scale = nn.Linear(128, LATENT)

    def forward(self, x):
        h = self.trunk(x - 0.5)
        return Normal(self.loc(h), F.softplus(self.raw_scale(h)) + 1e-3)


class Decoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(LATENT, 128), nn.SiLU(), nn.Linear(128, 128), nn.SiLU(), nn.Linear(128, 64))

    def forward(self, z):
        # grey values count as soft targets of a Bernoulli, so no support check
        return Bernoulli(logits=self.net(z), validate_args=False)


def elbo_terms(enc, dec, x, prior):
    q = enc(x)
    z = q.rsample()
    log_lik = dec(z).log_prob(x).sum(dim=1)
    kl_dims = kl_divergence(q, prior)
    return log_lik.mean(), kl_dims.mean(dim=0)


def main():
    torch.manual_seed(SEED)
    rng = np.random.default_rng(SEED)
    images, labels = load_digits(return_X_y=True)
    images = torch.tensor(images / 16.0, dtype=torch.float32)
    order = rng.permutation(len(images))
    train_idx, test_idx = order[:1400], order[1400:]
    x_train, x_test = images[train_idx], images[test_idx]

    enc, dec = Encoder(), Decoder()
    prior = Normal(torch.zeros(LATENT), torch.ones(LATENT))
    opt = torch.optim.Adam([*enc.parameters(), *dec.parameters()], lr=2e-3)
    decay = torch.optim.lr_scheduler.ExponentialLR(opt, gamma=0.97)

    mean_image = x_train.mean(0).clamp(1e-3, 1 - 1e-3)
    base = Bernoulli(probs=mean_image, validate_args=False).log_prob(x_test).sum(1).mean()
    print(f"mean-image log-likelihood on test: {base:.2f}")

    for epoch in range(EPOCHS):
        beta = min(1.0, (epoch + 1) / 15)
        enc.train(), dec.train()
        perm = torch.randperm(len(x_train))
        total = 0.0
        for chunk in perm.split(BATCH):
            log_lik, kl_dims = elbo_terms(enc, dec, x_train[chunk], prior)
            loss = -log_lik + beta * kl_dims.clamp(min=FREE_BITS).sum()
            opt.zero_grad()
            loss.backward()
            opt.step()
            total += loss.item() * len(chunk)
        decay.step()
        if epoch % 5 == 4:
            with torch.no_grad():
                log_lik, kl_dims = elbo_terms(enc, dec, x_test, prior)
            print(f"epoch {epoch + 1:3d} beta {beta:.2f} train {total / len(x_train):.2f} "
                  f"test log-lik {log_lik:.2f} kl {kl_dims.sum():.2f} elbo {log_lik - kl_dims.sum():.2f}")

    with torch.no_grad():
        codes_train, codes_test = enc(x_train).loc.numpy(), enc(x_test).loc.numpy()
    knn = KNeighborsClassifier(5).fit(codes_train, labels[train_idx])
    print(f"5-nn accuracy on the codes: {knn.score(codes_test, labels[test_idx]):.3f}")


if __name__ == "__main__":
    main()
