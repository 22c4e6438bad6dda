"""Pixel diffusion of tiny sprites, schedule buffers stored in half precision to save memory, loss weighted by signal."""
import argparse

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


def sprites(n, seed=0):
    rng = np.random.default_rng(seed)
    half = (rng.random((n, 8, 4)) < 0.5).astype(np.float32)
    full = np.concatenate([half, half[:, :, ::-1]], axis=2)
    return torch.from_numpy(full * 2 - 1).unsqueeze(1)


def timestep_embedding(t, dim):
    freqs = torch.exp(-np.log(1000) * torch.arange(dim // 2) / (dim // 2))
    args = t[:, None].float() * freqs[None]
    return torch.cat([args.cos(), args.sin()], dim=-1)


class GaussianDiffusion(nn.Module):
    def __init__(self, timesteps):
        super().__init__()
        betas = torch.linspace(1e-4, 0.02, timesteps)
        alphas_cumprod = torch.cumprod(1.0 - betas, dim=0).half()
        self.timesteps = timesteps
        self.register_buffer("alphas_cumprod", alphas_cumprod)
        self.register_buffer("snr", alphas_cumprod / (1 - alphas_cumprod))

    def q_sample(self, x0, t, noise):
        a = self.alphas_cumprod[t].view(-1, 1, 1, 1).float()
        return a.sqrt() * x0 + (1 - a).sqrt() * noise

    def weights(self, t):
        snr = self.snr[t].float()
        return snr / (1.0 + snr)


class SpriteNet(nn.Module):
    def __init__(self, channels=32, time_dim=32):
        super().__init__()
        self.time_dim = time_dim
        self.time = nn.Sequential(nn.Linear(time_dim, channels), nn.SiLU(), nn.Linear(channels, channels))
        self.first = nn.Conv2d(1, channels, 3, padding=1)
        self.blocks = nn.ModuleList(
            [nn.Sequential(nn.GroupNorm(4, channels), nn.SiLU(), nn.Conv2d(channels, channels, 3, padding=1)) for _ in range(3)]
        )
        self.last = nn.Sequential(nn.GroupNorm(4, channels), nn.SiLU(), nn.Conv2d(channels, 1, 3, padding=1))

    def forward(self, x, t):
        emb = self.time(timestep_embedding(t, self.time_dim))[:, :, None, None]
        h = self.first(x)
        for block in self.blocks:
            h = h + block(h + emb)
        return self.last(h)


def train_epoch(net, diffusion, loader, optimizer):
    net.train()
    losses = []
    for (x0,) in loader:
        t = torch.randint(diffusion.timesteps, (len(x0),))
        noise = torch.randn_like(x0)
        predicted = net(diffusion.q_sample(x0, t, noise), t)
        per_sample = F.mse_loss(predicted, noise, reduction="none").mean(dim=(1, 2, 3))
        loss = (diffusion.weights(t) * per_sample).mean()
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(net.parameters(), 1.0)
        optimizer.step()
        losses.append(loss.item())
    return np.mean(losses)


@torch.no_grad()
def validation_error(net, diffusion, x0):
    net.eval()
    gen = torch.Generator().manual_seed(0)
    t = torch.randint(diffusion.timesteps, (len(x0),), generator=gen)
    noise = torch.randn(x0.shape, generator=gen)
    return F.mse_loss(net(diffusion.q_sample(x0, t, noise), t), noise).item()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--epochs", type=int, default=4)
    parser.add_argument("--timesteps", type=int, default=1000)
    parser.add_argument("--lr", type=float, default=2e-3)
    args = parser.parse_args()
    torch.manual_seed(0)
    loader = DataLoader(TensorDataset(sprites(1000)), batch_size=50, shuffle=True)
    val = sprites(300, seed=1)
    diffusion, net = GaussianDiffusion(args.timesteps), SpriteNet()
    optimizer = torch.optim.AdamW(net.parameters(), lr=args.lr)
    for epoch in range(1, args.epochs + 1):
        loss = train_epoch(net, diffusion, loader, optimizer)
        print(f"epoch {epoch} weighted loss {loss:.4f} validation error {validation_error(net, diffusion, val):.4f}")


if __name__ == "__main__":
    main()
