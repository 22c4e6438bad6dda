"""Leaf scans: species (class), age (regression) and disease (binary, often unknown) with learned task weights."""
import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(73)

DIM, SPECIES = 30, 7
PROTO = torch.randn(SPECIES, DIM)
AGE_DIR, SICK_DIR = torch.randn(DIM), torch.randn(DIM)


def scans(n):
    species = torch.randint(0, SPECIES, (n,))
    age = torch.randn(n)
    sick = (torch.rand(n) < 0.3).float()
    x = 0.6 * PROTO[species] + 0.5 * age[:, None] * AGE_DIR + sick[:, None] * 0.8 * SICK_DIR + torch.randn(n, DIM)
    known = torch.rand(n) < 0.4
    sick = torch.where(known, sick, torch.full_like(sick, -1.0))
    return x, species, -5.0 + 2.0 * age, sick


class LeafNet(nn.Module):
    def __init__(self, hidden=80):
        super().__init__()
        self.trunk = nn.Sequential(nn.Linear(DIM, hidden), nn.ReLU(), nn.Linear(hidden, hidden), nn.ReLU())
        self.species = nn.Linear(hidden, SPECIES)
        self.age = nn.Linear(hidden, 1)
        self.sick = nn.Linear(hidden, 1)
        # log variances of the tasks (Kendall et al.); the total may go below zero
        self.log_var = nn.Parameter(torch.zeros(3))

    def forward(self, x):
        h = self.trunk(x)
        return self.species(h), self.age(h).squeeze(1), self.sick(h).squeeze(1)

    def combine(self, parts):
        parts = torch.stack(parts)
        scale = torch.tensor([1.0, 0.5, 1.0])
        log_var = self.log_var.clamp(-2.0, 2.0)
        return (scale * torch.exp(-log_var) * parts + 0.5 * log_var).sum()


def task_losses(out, species, age, sick):
    known = sick >= 0
    sick_loss = F.binary_cross_entropy_with_logits(out[2], sick.clamp(min=0), reduction="none")
    return [
        F.cross_entropy(out[0], species),
        F.mse_loss(out[1], age),
        (sick_loss * known).sum() / known.sum().clamp(min=1),
    ]


train, valid = scans(3000), scans(1000)
model = LeafNet()
optimizer = torch.optim.AdamW(
    [
        {"params": [p for n, p in model.named_parameters() if n != "log_var"], "lr": 1e-3, "weight_decay": 0.05},
        {"params": [model.log_var], "lr": 1e-2, "weight_decay": 0.0},
    ]
)

for epoch in range(1, 19):
    model.train()
    total, steps = 0.0, 0
    for idx in torch.randperm(len(train[0])).split(64):
        x, *targets = (t[idx] for t in train)
        loss = model.combine(task_losses(model(x), *targets))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total += loss.item()
        steps += 1
    if epoch % 2 == 0:
        model.eval()
        with torch.no_grad():
            sp, ag, si = model(valid[0])
        known = valid[3] >= 0
        acc = (sp.argmax(1) == valid[1]).float().mean().item()
        mae = (ag - valid[2]).abs().mean().item()
        sick_acc = ((si > 0).float() == valid[3])[known].float().mean().item()
        weights = torch.exp(-model.log_var.clamp(-2.0, 2.0)).detach().tolist()
        print(
            f"epoch {epoch:2d} loss {total / steps:+.3f} species acc {acc:.3f} age mae {mae:.3f} sick acc {sick_acc:.3f} "
            f"weights {[round(w, 2) for w in weights]}"
        )
print(f"trivial: species {1 / SPECIES:.3f}, age mae {(valid[2] - train[2].mean()).abs().mean():.3f}, sick {(valid[3][valid[3] >= 0] == 0).float().mean():.3f}")
