import torch
from torch.distributions import Normal, kl_divergence

PRIOR = Normal(0.0, 1.0)


def negative_elbo(enc, dec, x, beta, free_bits=0.05):
    q = enc(x)
    rec = -dec(q.rsample()).log_prob(x).sum(-1).mean()      # a density: may well be negative
    kl = kl_divergence(q, PRIOR).mean(0)                    # per latent, averaged over the batch
    return rec + beta * kl.clamp(min=free_bits).sum(), rec.item(), kl.sum().item()


def beta_at(step, warm):
    return min(1.0, step / warm)
