"""Vector-quantised autoencoder of textured tiles: straight-through gradients, EMA codebook, commitment loss."""

import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(18)


def tiles(n, side=12):
    """Stripes of a random direction, period and phase."""
    yy, xx = torch.meshgrid(torch.arange(side), torch.arange(side), indexing="ij")
    direction = torch.randint(0, 4, (n, 1, 1)) * 0.7854
    period = 3.0 + torch.randint(0, 3, (n, 1, 1))
    phase = 6.283 * torch.rand(n, 1, 1)
    wave = torch.sin(6.283 * (xx * direction.cos() + yy * direction.sin()) / period + phase)
    return wave.unsqueeze(1)


class Codebook(nn.Module):
    """Moved by moving averages, not by gradients: its vectors are buffers."""

    def __init__(self, codes=64, width=8, decay=0.95):
        super().__init__()
        self.decay = decay
        self.register_buffer("vectors", torch.randn(codes, width) * 0.5)
        self.register_buffer("counts", torch.ones(codes))
        self.register_buffer("sums", self.vectors.clone())

    def forward(self, z):
        flat = z.permute(0, 2, 3, 1).reshape(-1, z.shape[1])
        index = torch.cdist(flat, self.vectors).argmin(1)
        if self.training:
            self.move(flat.detach(), index)
        quantised = self.vectors[index].view(z.shape[0], z.shape[2], z.shape[3], -1).permute(0, 3, 1, 2)
        commitment = F.mse_loss(z, quantised.detach())
        return z + (quantised - z).detach(), commitment, index

    @torch.no_grad()
    def move(self, flat, index):
        hot = F.one_hot(index, len(self.vectors)).float()
        self.counts.lerp_(hot.sum(0), 1 - self.decay)
        self.sums.lerp_(hot.T @ flat, 1 - self.decay)
        self.vectors.copy_(self.sums / self.counts.clamp(min=1e-3).unsqueeze(1))
        idle = self.counts < 0.05
        if idle.any():  # restart codes that nobody uses at random inputs
            picked = flat[torch.randint(0, len(flat), (int(idle.sum()),))]
            self.vectors[idle], self.sums[idle], self.counts[idle] = picked, picked.clone(), 1.0


class TileCoder(nn.Module):
    def __init__(self, width=8):
        super().__init__()
        self.encoder = nn.Sequential(
            nn.Conv2d(1, 32, 4, 2, 1), nn.ReLU(), nn.Conv2d(32, 32, 3, 1, 1), nn.ReLU(), nn.Conv2d(32, width, 1)
        )
        self.codebook = Codebook(width=width)
        self.decoder = nn.Sequential(
            nn.Conv2d(width, 32, 3, 1, 1), nn.ReLU(), nn.ConvTranspose2d(32, 32, 4, 2, 1), nn.ReLU(), nn.Conv2d(32, 1, 3, 1, 1)
        )

    def forward(self, x):
        quantised, commitment, index = self.codebook(self.encoder(x))
        return self.decoder(quantised), commitment, index


train, test = tiles(1500), tiles(300)
model = TileCoder()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
for epoch in range(10):
    model.train()
    for rows in torch.randperm(len(train)).split(50):
        recon, commitment, _ = model(train[rows])
        loss = F.mse_loss(recon, train[rows]) + 0.25 * commitment
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    model.eval()
    with torch.no_grad():
        recon, commitment, index = model(test)
    error = F.mse_loss(recon, test).item()
    print(f"epoch {epoch} test mse {error:.4f} of {test.var().item():.3f}, codes used {index.unique().numel()}")
