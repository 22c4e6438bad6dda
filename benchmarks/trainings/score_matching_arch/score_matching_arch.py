"""Denoising-free score matching: the exact trace form in two dimensions. The loss is negative where it fits."""

import torch
from torch import nn

torch.manual_seed(23)


def arch(n):
    angle = torch.pi * torch.rand(n)
    radius = 1.0 + 0.15 * torch.randn(n)
    return torch.stack([radius * angle.cos() * 1.5, radius * angle.sin() * 1.5 - 0.7], dim=1)


class Score(nn.Module):
    def __init__(self, hidden=96):
        super().__init__()
        self.net = nn.Sequential(
            nn.Linear(2, hidden), nn.Softplus(), nn.Linear(hidden, hidden), nn.Softplus(), nn.Linear(hidden, 2)
        )

    def forward(self, x):
        return self.net(x)


def score_matching(model, x):
    """Hyvarinen: trace of the Jacobian plus half the squared norm; the inputs need a gradient for that."""
    x = x.requires_grad_(True)
    s = model(x)
    trace = 0.0
    for i in range(x.shape[1]):
        trace = trace + torch.autograd.grad(s[:, i].sum(), x, create_graph=True)[0][:, i]
    return (trace + 0.5 * s.pow(2).sum(1)).mean()


@torch.no_grad()
def langevin(model, n=800, steps=300, size=0.01):
    x = torch.randn(n, 2)
    for _ in range(steps):
        x = x + size * model(x).clamp(-20, 20) + (2 * size) ** 0.5 * torch.randn_like(x)
    return x


def energy_distance(a, b):
    return (2 * torch.cdist(a, b).mean() - torch.cdist(a, a).mean() - torch.cdist(b, b).mean()).item()


def main():
    model = Score()
    optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
    held_out = arch(2000)
    noise_floor = energy_distance(arch(800), arch(800))
    print(f"before: {energy_distance(torch.randn(800, 2), arch(800)):.4f}, two real sets: {noise_floor:.4f}")
    for step in range(1, 601):
        loss = score_matching(model, arch(256) + 0.05 * torch.randn(256, 2))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 200 == 0:
            test = score_matching(model, held_out.clone()).item()
            optimizer.zero_grad()
            gap = energy_distance(langevin(model), arch(800))
            print(f"step {step:4d} loss {loss.item():8.3f} test {test:8.3f} energy distance {gap:.4f}")


if __name__ == "__main__":
    main()
