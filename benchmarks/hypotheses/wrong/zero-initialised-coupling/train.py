"""A normalising flow of affine couplings on two moons."""

import math

import torch
from torch import nn

LAYERS, HIDDEN, BATCH_SIZE, STEPS = 5, 48, 128, 350


def moons(rows, seed):
    generator = torch.Generator().manual_seed(seed)
    side = torch.randint(0, 2, (rows,), generator=generator).float()
    angle = math.pi * torch.rand(rows, generator=generator)
    x = torch.stack([torch.cos(angle) + side - 0.5, torch.sin(angle) * (1 - 2 * side) + side / 2], 1)
    return x + 0.08 * torch.randn(rows, 2, generator=generator)


class Coupling(nn.Module):
    def __init__(self, flip):
        super().__init__()
        self.flip = flip
        self.hidden = nn.Linear(1, HIDDEN)
        self.out = nn.Linear(HIDDEN, 2)
        nn.init.zeros_(self.out.weight)
        nn.init.zeros_(self.out.bias)

    def forward(self, x):
        kept, moved = (x[:, 1:], x[:, :1]) if self.flip else (x[:, :1], x[:, 1:])
        scale, shift = self.out(torch.relu(self.hidden(kept))).chunk(2, 1)
        scale = torch.tanh(scale)
        moved = moved * scale.exp() + shift
        joined = [moved, kept] if self.flip else [kept, moved]
        return torch.cat(joined, 1), scale.sum(1)


class Flow(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList(Coupling(bool(n % 2)) for n in range(LAYERS))

    def nll(self, x):
        volume = torch.zeros(len(x))
        for layer in self.layers:
            x, added = layer(x)
            volume = volume + added
        density = -0.5 * (x**2).sum(1) - math.log(2 * math.pi)
        return -(density + volume).mean()


def main():
    torch.manual_seed(0)
    points, held_out = moons(3000, 1), moons(1000, 2)
    flow = Flow()
    optimizer = torch.optim.Adam(flow.parameters(), lr=3e-3)
    for step in range(STEPS):
        loss = flow.nll(points[torch.randint(0, len(points), (BATCH_SIZE,))])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 50 == 49:
            with torch.no_grad():
                print(f"step {step + 1} loss {loss.item():.4f} val loss {flow.nll(held_out).item():.4f}")


if __name__ == "__main__":
    main()
