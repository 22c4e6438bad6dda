"""VAE for robot-arm sensor readings: KL weight warmed up from 0 to 1, free bits, importance-weighted test bound."""
import math

import torch

from vae import GaussianVAE

torch.manual_seed(10)
D = 12
mix = torch.randn(6, D) / 6 ** 0.5


def readings(n):
    """Three joint angles seen through 12 noisy sensors."""
    a = torch.empty(n, 3).uniform_(-1.5, 1.5)
    feats = torch.cat([a.sin(), a.cumsum(1).cos()], dim=1)
    return feats @ mix + 0.05 * torch.randn(n, D)


@torch.no_grad()
def iw_bound(vae, x, k=32):
    q = vae.posterior(x)
    z = q.sample((k,))
    prior = torch.distributions.Normal(0.0, 1.0)
    logw = -vae.nll(x, z) + prior.log_prob(z).sum(-1) - q.log_prob(z).sum(-1)
    return (logw.logsumexp(0) - math.log(k)).mean().item()


def gaussian_loglik(train, test):
    cov = torch.cov(train.T)
    return torch.distributions.MultivariateNormal(train.mean(0), cov).log_prob(test).mean().item()


def main(epochs=20, bs=64, warm=6, free_bits=0.05):
    train, test = readings(5000), readings(1000)
    centre, scale = train.mean(0), train.std(0)
    train, test = (train - centre) / scale, (test - centre) / scale
    print(f"full-covariance Gaussian: test log-likelihood {gaussian_loglik(train, test):.3f}")
    vae = GaussianVAE(D)
    opt = torch.optim.Adamax(vae.parameters(), lr=6e-3)
    sched = torch.optim.lr_scheduler.CosineAnnealingLR(opt, epochs, eta_min=2e-4)
    steps = len(train) // bs
    for epoch in range(epochs):
        vae.train()
        sums = torch.zeros(2)
        for i, b in enumerate(torch.randperm(len(train))[: steps * bs].view(steps, bs)):
            beta = min(1.0, (epoch + i / steps) / warm)
            q = vae.posterior(train[b])
            nll = vae.nll(train[b], q.rsample()).mean()
            kl = vae.kl_per_dim(q).mean(0)                       # one value per latent dimension
            loss = nll + beta * kl.clamp(min=free_bits).sum()
            opt.zero_grad()
            loss.backward()
            torch.nn.utils.clip_grad_norm_(vae.parameters(), 50.0)
            opt.step()
            sums += torch.stack([nll.detach(), kl.sum().detach()])
        sched.step()
        if epoch % 2 == 1:
            vae.eval()
            nll, kl = (sums / steps).tolist()
            print(f"epoch {epoch + 1:2d} beta {beta:.2f} nll {nll:8.3f} kl {kl:6.3f} test log-likelihood {iw_bound(vae, test):.3f}")


if __name__ == "__main__":
    main()
