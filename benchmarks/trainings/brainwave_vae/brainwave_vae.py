# VAE for short brain-wave snippets. Things that look odd and are meant:
#  - both terms are summed over the dimensions (a real ELBO), so the loss is in the tens and not below one
#  - KL weight goes 0 -> 1 during the first third of the run
#  - "free bits": each latent may use 0.1 nat for nothing, which puts a floor under the KL term
#  - the observation noise is known (0.2), hence the factor in front of the squared error
import math
import torch
import torch.nn as nn

SIGMA, FREE = 0.2, 0.1
LEN, LATENT = 48, 6


def snippets(n, seed):
    g = torch.Generator().manual_seed(seed)
    t = torch.linspace(0, 1, LEN)
    f = 2 + 4 * torch.rand(n, 1, generator=g)
    ph = 2 * math.pi * torch.rand(n, 1, generator=g)
    amp = 0.5 + torch.rand(n, 1, generator=g)
    clean = amp * torch.sin(2 * math.pi * f * t + ph)
    return clean + SIGMA * torch.randn(n, LEN, generator=g), clean


class Vae(nn.Module):
    def __init__(self, h=128):
        super().__init__()
        self.encoder = nn.Sequential(nn.Linear(LEN, h), nn.SiLU(), nn.Linear(h, h), nn.SiLU(), nn.Linear(h, 2 * LATENT))
        self.decoder = nn.Sequential(nn.Linear(LATENT, h), nn.SiLU(), nn.Linear(h, h), nn.SiLU(), nn.Linear(h, LEN))

    def forward(self, x, sample=True):
        mu, lv = self.encoder(x).chunk(2, dim=-1)
        z = mu + torch.exp(0.5 * lv) * torch.randn_like(mu) if sample else mu
        return self.decoder(z), mu, lv


def kl_per_dim(mu, lv):
    return 0.5 * (mu ** 2 + lv.exp() - 1 - lv)


def main():
    torch.manual_seed(7)
    x, _ = snippets(4000, 0)
    xt, ct = snippets(800, 1)
    model = Vae()
    opt = torch.optim.Adam(model.parameters(), lr=2e-3)
    epochs, size = 24, 100
    total_steps = epochs * math.ceil(len(x) / size)
    step = 0
    for epoch in range(epochs):
        model.train()
        acc = torch.zeros(2)
        for idx in torch.randperm(len(x)).split(size):
            beta = min(1.0, step / (total_steps / 3))
            rec, mu, lv = model(x[idx])
            err = ((rec - x[idx]) ** 2).sum(1).mean() / (2 * SIGMA ** 2)
            kl = kl_per_dim(mu, lv).mean(0).clamp(min=FREE).sum()
            loss = err + beta * kl
            opt.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 50.0)
            opt.step()
            step += 1
            acc += torch.tensor([err.item(), kl.item()]) * len(idx) / len(x)
        if step > 0.8 * total_steps:
            for g in opt.param_groups:
                g["lr"] = 5e-4
        if epoch % 4 == 3:
            model.eval()
            with torch.no_grad():
                rec, _, _ = model(xt, sample=False)
            print(f"epoch {epoch + 1} beta {beta:.2f} fit {acc[0]:.1f} kl {acc[1]:.2f} test: mse to the clean curve {((rec - ct) ** 2).mean().item():.4f}")
    print(f"mean curve {((x.mean(0) - ct) ** 2).mean().item():.4f}, noisy input itself {((xt - ct) ** 2).mean().item():.4f}")


if __name__ == "__main__":
    main()
