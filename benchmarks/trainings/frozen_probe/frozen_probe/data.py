"""Gait-like signals: walking styles, and a small labelled set of patients."""
import torch

LENGTH = 64
STYLES = 8


def signals(style, gen):
    n = len(style)
    t = torch.linspace(0, 1, LENGTH)
    cadence = 3.0 + 0.5 * (style % 4).float() + 0.08 * torch.randn(n, generator=gen)
    skew = torch.where(style >= 4, 0.8, 0.2) + 0.1 * torch.randn(n, generator=gen)
    phase = torch.rand(n, 1, generator=gen) * 6.2832
    angle = 6.2832 * cadence[:, None] * t + phase
    wave = torch.sin(angle) + skew[:, None] * torch.sin(2 * angle + 0.7)
    return (wave + 0.25 * torch.randn(n, LENGTH, generator=gen))[:, None]


def styles(n, seed):
    gen = torch.Generator().manual_seed(seed)
    style = torch.randint(STYLES, (n,), generator=gen)
    return signals(style, gen), style


def patients(n, seed):
    """Patients are at risk when cadence is low and the wave is skewed, or the other way round."""
    gen = torch.Generator().manual_seed(seed)
    style = torch.randint(STYLES, (n,), generator=gen)
    risk = ((style % 4 < 2) ^ (style >= 4)).long()
    return signals(style, gen), risk
