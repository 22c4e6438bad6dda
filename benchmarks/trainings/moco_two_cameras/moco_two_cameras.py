"""Two cameras see the same object: match their pictures with a momentum encoder and a queue of old keys."""

import copy

import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(25)
PIXELS, LATENT, QUEUE = 40, 6, 512


class Cameras:
    """Six properties of an object, seen through two different fixed lenses, with noise."""

    def __init__(self):
        self.one = [torch.randn(LATENT, 32) / 2, torch.randn(32, PIXELS) / 5]
        self.two = [torch.randn(LATENT, 32) / 2, torch.randn(32, PIXELS) / 5]

    def look(self, n):
        thing = torch.randn(n, LATENT)
        pictures = (torch.tanh(thing @ a) @ b + 0.05 * torch.randn(n, PIXELS) for a, b in (self.one, self.two))
        return tuple(pictures)


def encoder():
    return nn.Sequential(nn.Linear(PIXELS, 128), nn.GELU(), nn.Linear(128, 128), nn.GELU(), nn.Linear(128, 24))


class Moco(nn.Module):
    def __init__(self, temperature=0.1, momentum=0.97):
        super().__init__()
        self.query, self.key = encoder(), encoder()
        self.partner = nn.Linear(24, 24)
        self.slow = copy.deepcopy(self.key).requires_grad_(False)  # follows the key encoder, has no gradients
        self.register_buffer("queue", F.normalize(torch.randn(QUEUE, 24), dim=1))
        self.temperature, self.momentum = temperature, momentum

    @torch.no_grad()
    def keys(self, x):
        for slow, fast in zip(self.slow.parameters(), self.key.parameters()):
            slow.lerp_(fast, 1 - self.momentum)
        return F.normalize(self.slow(x), dim=1)

    def forward(self, one, two):
        q = F.normalize(self.partner(self.query(one)), dim=1)
        fresh = F.normalize(self.key(two), dim=1)  # trains the key encoder with the batch itself
        old = self.keys(two)
        logits = torch.cat([q @ fresh.T, q @ self.queue.T], dim=1) / self.temperature
        self.queue = torch.cat([old, self.queue])[:QUEUE]
        return F.cross_entropy(logits, torch.arange(len(q)))


@torch.no_grad()
def matched(model, cameras, n=300):
    one, two = cameras.look(n)
    q = F.normalize(model.partner(model.query(one)), dim=1)
    return ((q @ F.normalize(model.key(two), dim=1).T).argmax(1) == torch.arange(n)).float().mean().item()


cameras, model = Cameras(), Moco()
optimizer = torch.optim.AdamW([p for p in model.parameters() if p.requires_grad], lr=1e-3, weight_decay=1e-4)
print(f"matched before {matched(model, cameras):.3f} of 300")
for step in range(1, 401):
    loss = model(*cameras.look(64))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 80 == 0:
        print(f"step {step} loss {loss.item():.4f} matched {matched(model, cameras):.3f}")
