"""An inverse problem with several answers: a mixture density network. A density may exceed 1, so the loss is negative."""

import argparse
import math
from dataclasses import asdict, dataclass

import torch
from torch import nn


@dataclass(frozen=True)
class Options:
    components: int = 5
    hidden: int = 64
    steps: int = 900
    batch: int = 256
    lr: float = 3e-3
    clip: float = 10.0
    seed: int = 2


def robot_arm(n, generator):
    """The angle of the joint from where the hand is: two poses reach most places."""
    angle = math.pi * torch.rand(n, 1, generator=generator)
    hand = torch.sin(angle) * 0.5 + 0.01 * torch.randn(n, 1, generator=generator)
    return hand * 4 - 1.2, angle / math.pi


class MixtureDensity(nn.Module):
    def __init__(self, hidden, components):
        super().__init__()
        self.trunk = nn.Sequential(nn.Linear(1, hidden), nn.Tanh(), nn.Linear(hidden, hidden), nn.Tanh())
        self.weight = nn.Linear(hidden, components)
        self.centre = nn.Linear(hidden, components)
        self.log_width = nn.Linear(hidden, components)
        nn.init.zeros_(self.log_width.weight)
        nn.init.constant_(self.log_width.bias, -2.0)

    def forward(self, x):
        h = self.trunk(x)
        width = self.log_width(h).clamp(-5.0, 2.0)  # no component may shrink to a point
        return torch.log_softmax(self.weight(h), dim=-1), self.centre(h), width


def nll(outputs, target):
    log_weight, centre, log_width = outputs
    z = (target - centre) / log_width.exp()
    log_density = -0.5 * z**2 - log_width - 0.5 * math.log(2 * math.pi)
    return -torch.logsumexp(log_weight + log_density, dim=-1).mean()


def parse():
    parser = argparse.ArgumentParser()
    for name, default in asdict(Options()).items():
        parser.add_argument("--" + name, type=type(default), default=default)
    return Options(**vars(parser.parse_args()))


def main():
    opt = parse()
    torch.manual_seed(opt.seed)
    generator = torch.Generator().manual_seed(opt.seed)
    x_val, y_val = robot_arm(2000, generator)
    model = MixtureDensity(opt.hidden, opt.components)
    optimizer = torch.optim.Adam(model.parameters(), lr=opt.lr)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, opt.lr, total_steps=opt.steps)
    for step in range(1, opt.steps + 1):
        x, y = robot_arm(opt.batch, generator)  # fresh rows in each step: there is no epoch
        loss = nll(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), opt.clip)
        optimizer.step()
        schedule.step()
        if step % 150 == 0:
            with torch.no_grad():
                print(f"step {step:4d} train nll {loss.item():.3f} val nll {nll(model(x_val), y_val).item():.3f}")
    with torch.no_grad():
        log_weight, centre, _ = model(torch.tensor([[0.2]]))
    best = log_weight.exp()[0].argsort(descending=True)[:2]
    print("hand at 0.35: poses", centre[0][best].tolist(), "weights", log_weight.exp()[0][best].tolist())


if __name__ == "__main__":
    main()
