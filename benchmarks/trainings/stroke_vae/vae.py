"""VAE on binarised 12x12 strokes. KL annealing with free bits; the log-likelihood of a bits-back style
bound is reported per image; the decoder keeps its dropout on when samples for the uncertainty map are drawn."""
import numpy as np
import torch
from torch import nn
from torch.distributions import Bernoulli, Normal, kl_divergence

torch.manual_seed(17)
rng = np.random.default_rng(17)
SIDE = 12


def draw_stroke():
    img = np.zeros((SIDE, SIDE), np.float32)
    x, y = rng.uniform(2, SIDE - 2, 2)
    angle, bend = rng.uniform(0, 2 * np.pi), rng.normal(0, 0.15)
    for _ in range(14):
        img[int(np.clip(y, 0, SIDE - 1)), int(np.clip(x, 0, SIDE - 1))] = 1.0
        x, y = x + 0.7 * np.cos(angle), y + 0.7 * np.sin(angle)
        angle += bend
    return img


images = torch.from_numpy(np.stack([draw_stroke() for _ in range(3000)])).flatten(1)
train_x, test_x = images[:2600], images[2600:]


class StrokeVAE(nn.Module):
    def __init__(self, z=10, h=96):
        super().__init__()
        self.enc = nn.Sequential(nn.Linear(SIDE * SIDE, h), nn.ELU(), nn.Linear(h, h), nn.ELU(), nn.Linear(h, 2 * z))
        self.dec = nn.Sequential(nn.Linear(z, h), nn.ELU(), nn.Dropout(0.05), nn.Linear(h, h), nn.ELU(),
                                 nn.Linear(h, SIDE * SIDE))
        self.z = z

    def posterior(self, x):
        mu, raw = self.enc(x).chunk(2, dim=-1)
        return Normal(mu, nn.functional.softplus(raw) + 1e-3)

    def forward(self, x):
        q = self.posterior(x)
        z = q.rsample()
        return q, Bernoulli(logits=self.dec(z), validate_args=False)


def elbo_terms(model, x):
    q, p = model(x)
    rec = -p.log_prob(x).sum(-1)
    kl = kl_divergence(q, Normal(0.0, 1.0))
    return rec, kl


model = StrokeVAE()
opt = torch.optim.RAdam(model.parameters(), lr=3e-3)
EPOCHS, WARM, FREE = 16, 5, 0.05
pixel_rate = train_x.mean(0).clamp(1e-3, 1 - 1e-3)
base = -Bernoulli(probs=pixel_rate).log_prob(test_x).sum(-1).mean()
print(f"independent-pixel baseline: {base:.2f} nats per image")

for epoch in range(EPOCHS):
    model.train()
    beta = min(1.0, (epoch + 1) / WARM)
    sums = np.zeros(2)
    for batch in train_x[torch.randperm(len(train_x))].split(64):
        rec, kl = elbo_terms(model, batch)
        # free bits: each latent may use FREE nats for nothing
        kl_used = kl.mean(0).clamp(min=FREE).sum()
        loss = rec.mean() + beta * kl_used
        opt.zero_grad()
        loss.backward()
        opt.step()
        sums += [rec.sum().item(), kl.sum().item()]
    model.eval()
    with torch.no_grad():
        rec, kl = elbo_terms(model, test_x)
    print(f"{epoch:2d} beta {beta:.2f} train rec {sums[0] / len(train_x):.2f} kl {sums[1] / len(train_x):.2f} | "
          f"test -elbo {(rec + kl.sum(-1)).mean():.2f} active {(kl.mean(0) > 0.1).sum()}/{model.z}")

# Monte-Carlo dropout in the decoder: where is the picture uncertain?
model.eval()
model.dec.train()
with torch.no_grad():
    z = model.posterior(test_x[:200]).mean
    draws = torch.stack([model.dec(z).sigmoid() for _ in range(20)])
right = ((draws.mean(0) > 0.5) == (test_x[:200] > 0.5)).float()
print(f"reconstruction: {right.mean():.4f} of the pixels right, spread {draws.std(0).mean():.4f}")
