import torch
import torch.nn.functional as F


def elbo_terms(x, recon, mu, logvar):
    """Reconstruction and KL parts of the negative ELBO."""
    rec = F.binary_cross_entropy(recon, x)
    kl = -0.5 * torch.sum(1 + logvar - mu.pow(2) - logvar.exp()) / len(x)
    return rec, kl
