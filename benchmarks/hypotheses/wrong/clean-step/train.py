"""Points on two spirals from noise (DDPM)."""

import math

import torch
from torch import nn
from torch.nn import functional

STEPS, WIDTH, BATCH_SIZE, UPDATES = 60, 64, 256, 300
BETAS = torch.linspace(1e-4, 0.12, STEPS)
# Entry 0 is the clean data: after t steps so much of it is left.
LEFT = torch.cat([torch.ones(1), torch.cumprod(1 - BETAS, 0)])


def spirals(rows, seed):
    generator = torch.Generator().manual_seed(seed)
    turn = torch.rand(rows, generator=generator).sqrt() * 3 * math.pi
    side = torch.randint(0, 2, (rows,), generator=generator) * 2 - 1
    points = torch.stack([turn * turn.cos(), turn * turn.sin()], 1) * side[:, None] / 5
    return points + 0.05 * torch.randn(rows, 2, generator=generator)


class Denoiser(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(
            nn.Linear(2 + 8, WIDTH), nn.SiLU(), nn.Linear(WIDTH, WIDTH), nn.SiLU(), nn.Linear(WIDTH, 2)
        )

    def forward(self, points, times):
        angles = times[:, None] / STEPS * math.pi * torch.tensor([1.0, 2.0, 4.0, 8.0])
        return self.layers(torch.cat([points, angles.sin(), angles.cos()], 1))


def draw_times(rows):
    return torch.randint(1, STEPS + 1, (rows,))


def denoising_loss(model, points, times, noise):
    left = LEFT[times][:, None]
    return functional.mse_loss(model(left.sqrt() * points + (1 - left).sqrt() * noise, times), noise)


def main():
    torch.manual_seed(0)
    points, test_points = spirals(3000, 1), spirals(2000, 2)
    generator = torch.Generator().manual_seed(3)
    test_times = torch.randint(1, STEPS + 1, (2000,), generator=generator)
    test_noise = torch.randn(2000, 2, generator=generator)
    model = Denoiser()
    optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
    for update in range(UPDATES):
        batch = points[torch.randint(0, len(points), (BATCH_SIZE,))]
        loss = denoising_loss(model, batch, draw_times(BATCH_SIZE), torch.randn_like(batch))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if update % 75 == 74:
            with torch.no_grad():
                held_out = denoising_loss(model, test_points, test_times, test_noise).item()
            print(f"update {update + 1} loss {loss.item():.4f} test mse {held_out:.4f}")


if __name__ == "__main__":
    main()
