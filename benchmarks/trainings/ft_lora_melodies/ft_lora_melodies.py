"""LoRA on a frozen next-note model: rank-4 updates whose second factor starts at zero; nothing else is trained."""

import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(82)
NOTES, LENGTH = 12, 24


def melodies(n, step):
    """Walks on a circle of notes with a preferred interval; now and then a random jump."""
    notes = torch.randint(0, NOTES, (n, 1))
    for _ in range(LENGTH):
        jump = torch.rand(n, 1) < 0.1
        following = torch.where(jump, torch.randint(0, NOTES, (n, 1)), (notes[:, -1:] + step) % NOTES)
        notes = torch.cat([notes, following], dim=1)
    return notes


class Lora(nn.Module):
    def __init__(self, base, rank=4, alpha=8.0):
        super().__init__()
        self.base = base.requires_grad_(False)
        self.down = nn.Parameter(torch.randn(rank, base.in_features) / base.in_features**0.5)
        self.up = nn.Parameter(torch.zeros(base.out_features, rank))  # no change at first
        self.scale = alpha / rank

    def forward(self, x):
        return self.base(x) + self.scale * F.linear(F.linear(x, self.down), self.up)


class NoteModel(nn.Module):
    def __init__(self, width=48):
        super().__init__()
        self.embed = nn.Embedding(NOTES, width)
        self.hidden = nn.Linear(2 * width, 96)
        self.out = nn.Linear(96, NOTES)

    def forward(self, notes):
        e = self.embed(notes)
        before = F.pad(e, (0, 0, 1, 0))[:, :-1]
        return self.out(F.gelu(self.hidden(torch.cat([e, before], dim=-1))))


def loss_of(model, notes):
    return F.cross_entropy(model(notes[:, :-1]).flatten(0, 1), notes[:, 1:].flatten())


def fit(model, make, steps, lr, name):
    trained = [p for p in model.parameters() if p.requires_grad]
    every = sum(p.numel() for p in model.parameters())
    print(f"{name}: {sum(p.numel() for p in trained)} of {every} weights are trained")
    optimizer = torch.optim.AdamW(trained, lr=lr, weight_decay=0.0)
    for step in range(1, steps + 1):
        loss = loss_of(model, make(32))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % (steps // 3) == 0:
            print(f"  step {step:3d} loss {loss.item():.4f}")


model = NoteModel()
fit(model, lambda n: melodies(n, 5), 300, 3e-3, "pre-training")
test = melodies(200, 7)
print(f"new interval, before: {loss_of(model, test).item():.4f}")

model.requires_grad_(False)
model.hidden, model.out = Lora(model.hidden), Lora(model.out)
frozen = model.embed.weight.clone()
fit(model, lambda n: melodies(n, 7), 600, 1e-2, "LoRA")
assert torch.equal(frozen, model.embed.weight)
with torch.no_grad():
    right = (model(test[:, :-1]).argmax(-1) == test[:, 1:]).float().mean().item()
print(f"new interval, after: {loss_of(model, test).item():.4f}, next note right {right:.3f} of at most 0.908")
