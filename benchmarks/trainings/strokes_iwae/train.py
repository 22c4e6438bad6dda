"""Importance-weighted autoencoder (k samples) on binary drawings of two strokes."""
import math

import torch
from torch import nn
from torch.distributions import Bernoulli, Normal

SIDE, LATENT, K = 12, 6, 8


def drawings(n, g):
    yy, xx = torch.meshgrid(torch.arange(SIDE), torch.arange(SIDE), indexing="ij")
    row = torch.randint(1, SIDE - 1, (n, 1, 1), generator=g)
    col = torch.randint(1, SIDE - 1, (n, 1, 1), generator=g)
    length = torch.randint(4, SIDE, (n, 1, 1), generator=g)
    img = ((yy == row) & (xx < length)) | ((xx == col) & (yy >= SIDE - length))
    flip = torch.rand(n, SIDE, SIDE, generator=g) < 0.01
    return (img ^ flip).float().flatten(1)


class IWAE(nn.Module):
    def __init__(self, hidden=160):
        super().__init__()
        d = SIDE * SIDE
        self.enc = nn.Sequential(nn.Linear(d, hidden), nn.ELU(), nn.Linear(hidden, hidden), nn.ELU())
        self.mu, self.log_sd = nn.Linear(hidden, LATENT), nn.Linear(hidden, LATENT)
        self.dec = nn.Sequential(
            nn.Linear(LATENT, hidden), nn.ELU(), nn.Linear(hidden, hidden), nn.ELU(), nn.Linear(hidden, d)
        )

    def log_weights(self, x, k, beta=1.0):
        h = self.enc(x)
        q = Normal(self.mu(h), self.log_sd(h).clamp(-6, 3).exp())
        z = q.rsample((k,))
        log_lik = Bernoulli(logits=self.dec(z)).log_prob(x).sum(-1)
        log_prior = Normal(0.0, 1.0).log_prob(z).sum(-1)
        return log_lik + beta * (log_prior - q.log_prob(z).sum(-1)), q

    def bound(self, x, k, beta=1.0):
        log_w, q = self.log_weights(x, k, beta)
        return torch.logsumexp(log_w, dim=0) - math.log(k), q


@torch.no_grad()
def evaluate(model, x):
    model.eval()
    bound, q = model.bound(x, k=64)
    active = (q.mean.var(0) > 0.02).sum().item()
    return bound.mean().item(), active


def main():
    torch.manual_seed(23)
    g = torch.Generator().manual_seed(23)
    train, test = drawings(4000, g), drawings(500, g)
    p = train.mean(0).clamp(1e-4, 1 - 1e-4)
    independent = Bernoulli(p).log_prob(test).sum(-1).mean()
    print(f"independent pixels: {independent:.2f} nats")

    model = IWAE()
    opt = torch.optim.Adam(model.parameters(), lr=2e-3, eps=1e-4)
    epochs = 12
    for epoch in range(epochs):
        model.train()
        beta = min(1.0, (epoch + 1) / 4)         # warm-up of the prior and posterior terms
        total = 0.0
        for x in train[torch.randperm(len(train), generator=g)].split(80):
            bound, _ = model.bound(x, K, beta)
            loss = -bound.mean()
            opt.zero_grad()
            loss.backward()
            opt.step()
            total += loss.item() * len(x)
        value, active = evaluate(model, test)
        print(f"epoch {epoch + 1:2d}  beta {beta:.2f}  train loss {total / len(train):.2f}  "
              f"test bound (k=64) {value:.2f} nats  active units {active}/{LATENT}")


if __name__ == "__main__":
    main()
