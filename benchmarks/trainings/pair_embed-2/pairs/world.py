import torch

N_SHAPES, N_COLOURS, N_SIZES = 6, 6, 5


class World:
    """Each object has a shape, a colour and a size; sensors see a noisy non-linear mix of it."""

    def __init__(self, seed, sensor_dim=40):
        g = torch.Generator().manual_seed(seed)
        self.codes = torch.randn(N_SHAPES + N_COLOURS + N_SIZES, 24, generator=g)
        self.mix = torch.randn(24, sensor_dim, generator=g) / 24 ** 0.5
        self.offsets = torch.tensor([0, N_SHAPES, N_SHAPES + N_COLOURS])

    def all_objects(self):
        grid = torch.cartesian_prod(*(torch.arange(n) for n in (N_SHAPES, N_COLOURS, N_SIZES)))
        return grid + self.offsets

    def sense(self, objects, noise=0.35):
        latent = self.codes[objects].sum(1)
        clean = torch.tanh(latent @ self.mix)
        return clean + noise * torch.randn_like(clean)
