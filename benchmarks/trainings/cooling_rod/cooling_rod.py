# Heat in a rod, u_t = k u_xx, learned from the equation alone (no measurements).
# The derivatives need create_graph=True, the loss is made of residuals at random points that are drawn anew in each step,
# and the start and boundary conditions are built into the ansatz, so the network itself starts at (almost) zero.
import math
import torch
from torch import nn

K = 0.12
torch.manual_seed(55)
torch.set_default_dtype(torch.float32)


class Rod(nn.Module):
    def __init__(self, width=40):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(2, width), nn.Tanh(), nn.Linear(width, width), nn.Tanh(), nn.Linear(width, 1))
        nn.init.normal_(self.net[-1].weight, std=1e-3)
        nn.init.zeros_(self.net[-1].bias)

    def forward(self, x, t):
        raw = self.net(torch.cat([2 * x - 1, 2 * t - 1], 1))
        start = torch.sin(math.pi * x) + 0.5 * torch.sin(2 * math.pi * x)
        return start + t * x * (1 - x) * raw


def exact(x, t):
    return (torch.exp(-K * math.pi ** 2 * t) * torch.sin(math.pi * x)
            + 0.5 * torch.exp(-4 * K * math.pi ** 2 * t) * torch.sin(2 * math.pi * x))


def residual(model, x, t):
    x.requires_grad_(True)
    t.requires_grad_(True)
    u = model(x, t)
    one = torch.ones_like(u)
    u_t, u_x = torch.autograd.grad(u, (t, x), one, create_graph=True)
    u_xx, = torch.autograd.grad(u_x, x, one, create_graph=True)
    return u_t - K * u_xx


def error(model):
    g = torch.linspace(0, 1, 41)
    x, t = torch.meshgrid(g, g, indexing="ij")
    x, t = x.reshape(-1, 1), t.reshape(-1, 1)
    with torch.no_grad():
        d = model(x, t) - exact(x, t)
        return (d.pow(2).mean().sqrt() / exact(x, t).pow(2).mean().sqrt()).item()


def main():
    model = Rod()
    print(f"relative error of the start profile kept constant: {error(model):.3f} (about what an untrained net gives)")
    opt = torch.optim.Adam(model.parameters(), lr=5e-3)
    steps = 1500
    sched = torch.optim.lr_scheduler.OneCycleLR(opt, max_lr=6e-3, total_steps=steps)
    for step in range(1, steps + 1):
        r = residual(model, torch.rand(200, 1), torch.rand(200, 1))
        loss = r.pow(2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
        sched.step()
        if step % 250 == 0:
            print(f"step {step} mean squared residual {loss.item():.2e} relative error against the series {error(model):.4f}")


if __name__ == "__main__":
    main()
