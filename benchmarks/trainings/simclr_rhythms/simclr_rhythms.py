"""SimCLR on short drum rhythms: two augmented views of a bar attract each other, all other bars repel.

The embedding serves to find a bar again when it is played elsewhere, quieter and with missed notes.
"""

import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(44)
STEPS, DRUMS = 16, 3


def bars(n):
    hits = (torch.rand(n, DRUMS, STEPS) < torch.tensor([0.35, 0.25, 0.5]).view(1, 3, 1)).float()
    return hits * (0.5 + 0.5 * torch.rand(n, DRUMS, STEPS))


def augment(x):
    """Missed hits, another loudness of each drum, noise."""
    keep = (torch.rand_like(x) > 0.15).float()
    gain = 0.7 + 0.6 * torch.rand(len(x), DRUMS, 1)
    return x * keep * gain + 0.1 * torch.randn_like(x)


class Encoder(nn.Module):
    def __init__(self, width=64, out=32):
        super().__init__()
        self.backbone = nn.Sequential(
            nn.Conv1d(DRUMS, 32, 5, padding=2), nn.ReLU(), nn.Flatten(), nn.Linear(32 * STEPS, width), nn.ReLU()
        )
        self.projector = nn.Sequential(nn.Linear(width, width), nn.ReLU(), nn.Linear(width, out))

    def forward(self, x):
        h = self.backbone(x)
        return h, self.projector(h)


def nt_xent(z1, z2, temperature=0.2):
    n = len(z1)
    z = torch.cat([F.normalize(z1, dim=0), F.normalize(z2, dim=0)])
    similarity = z @ z.T / temperature
    similarity.fill_diagonal_(-1e9)
    partner = torch.cat([torch.arange(n) + n, torch.arange(n)])
    return F.cross_entropy(similarity, partner)


@torch.no_grad()
def found_again(model, n=256):
    model.eval()
    x = bars(n)
    first, second = (F.normalize(model(augment(x))[1], dim=1) for _ in range(2))
    return ((first @ second.T).argmax(1) == torch.arange(n)).float().mean().item()


model = Encoder()
optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
print(f"found again before training {found_again(model):.3f}")
for step in range(1, 301):
    model.train()
    x = bars(128)
    loss = nt_xent(model(augment(x))[1], model(augment(x))[1])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 60 == 0:
        print(f"step {step} loss {loss.item():.4f} found again among 256: {found_again(model):.3f}")
