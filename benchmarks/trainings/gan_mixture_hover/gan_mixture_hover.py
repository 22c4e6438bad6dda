"""GAN on a mixture of three bells in one dimension. The losses hover near log 2 by design: samples are what improves."""

import math

import torch
from torch import nn

torch.manual_seed(10)
BATCH, STEPS, NOISE = 128, 1200, 4
CENTRES = torch.tensor([-2.0, 0.0, 2.0])


def sample_real(n):
    return (CENTRES[torch.randint(0, 3, (n,))] + 0.25 * torch.randn(n)).unsqueeze(1)


def mlp(inputs, hidden, act):
    return nn.Sequential(nn.Linear(inputs, hidden), act(), nn.Linear(hidden, hidden), act(), nn.Linear(hidden, 1))


class Ema:
    """A slow copy of the generator, used for sampling only."""

    def __init__(self, model, decay=0.995):
        self.decay = decay
        self.model = mlp(NOISE, 64, nn.ReLU)
        self.model.load_state_dict(model.state_dict())
        self.model.requires_grad_(False)

    @torch.no_grad()
    def update(self, source):
        for slow, fast in zip(self.model.parameters(), source.parameters()):
            slow.lerp_(fast, 1 - self.decay)


def wasserstein(a, b):
    return (a.flatten().sort().values - b.flatten().sort().values).abs().mean().item()


generator, discriminator = mlp(NOISE, 64, nn.ReLU), mlp(1, 64, nn.SiLU)
ema = Ema(generator)
g_opt = torch.optim.Adam(generator.parameters(), lr=1e-3, betas=(0.0, 0.99))
d_opt = torch.optim.Adam(discriminator.parameters(), lr=1e-3, betas=(0.0, 0.99))
criterion = nn.BCEWithLogitsLoss()
ones, zeros = torch.ones(BATCH, 1), torch.zeros(BATCH, 1)
start = wasserstein(sample_real(4000), generator(torch.randn(4000, NOISE)).detach())
print(f"distance before {start:.3f}; at a draw the discriminator's loss is {2 * math.log(2):.3f}")

for step in range(1, STEPS + 1):
    fake = generator(torch.randn(BATCH, NOISE))
    real = sample_real(BATCH).requires_grad_(True)
    on_real = discriminator(real)
    d_loss = criterion(on_real, ones) + criterion(discriminator(fake.detach()), zeros)
    (slope,) = torch.autograd.grad(on_real.sum(), real, create_graph=True)
    d_opt.zero_grad()
    (d_loss + 0.1 * slope.pow(2).mean()).backward()  # R1: a steep discriminator is punished
    d_opt.step()

    g_loss = criterion(discriminator(fake), ones)
    g_opt.zero_grad()
    g_loss.backward()  # also leaves gradients in the discriminator; they are cleared before its next step
    g_opt.step()
    ema.update(generator)

    if step % 200 == 0:
        distance = wasserstein(sample_real(4000), ema.model(torch.randn(4000, NOISE)))
        print(f"step {step:4d} D {d_loss.item():.3f} G {g_loss.item():.3f} distance {distance:.3f}")
