"""Regression under bf16 autocast with gradient accumulation (the last, shorter group included)."""
import copy
import math

import torch
from sklearn.datasets import make_friedman1
from torch import nn
from torch.utils.data import DataLoader, TensorDataset, random_split

SEED = 17
MICRO = 16
ACCUMULATE = 5
EPOCHS = 14


class GatedMLP(nn.Module):
    def __init__(self, d_in, width=96):
        super().__init__()
        self.inp = nn.Linear(d_in, width)
        self.gate = nn.Linear(width, 2 * width)
        self.norm = nn.LayerNorm(width)
        self.out = nn.Linear(width, 1)

    def forward(self, x):
        h = torch.nn.functional.gelu(self.inp(x))
        a, b = self.gate(h).chunk(2, dim=-1)
        h = self.norm(h + a * torch.sigmoid(b))
        return self.out(h).squeeze(-1)


class EMA:
    def __init__(self, model, decay):
        self.shadow = copy.deepcopy(model).requires_grad_(False)
        self.decay, self.updates = decay, 0

    @torch.no_grad()
    def update(self, model):
        self.updates += 1
        d = min(self.decay, (1 + self.updates) / (10 + self.updates))
        for s, p in zip(self.shadow.parameters(), model.parameters()):
            s.lerp_(p, 1 - d)


def groups(loader, size):
    """Micro-batches in lists of `size`; the last list holds what is left over."""
    held = []
    for batch in loader:
        held.append(batch)
        if len(held) == size:
            yield held
            held = []
    if held:
        yield held


def rmse(model, loader):
    model.eval()
    se = n = 0
    with torch.inference_mode():
        for x, y in loader:
            se += ((model(x) - y) ** 2).sum().item()
            n += len(y)
    return math.sqrt(se / n)


def main():
    torch.manual_seed(SEED)
    x, y = make_friedman1(n_samples=3500, n_features=10, noise=0.7, random_state=SEED)
    x, y = torch.tensor(x, dtype=torch.float32), torch.tensor(y, dtype=torch.float32)
    full = TensorDataset(2 * x - 1, y)
    train, test = random_split(full, [2810, 690], torch.Generator().manual_seed(SEED))
    target = y[train.indices]
    mean, std = target.mean(), target.std()
    full.tensors = (full.tensors[0], (y - mean) / std)      # centred: about half the targets are negative

    loader = DataLoader(train, batch_size=MICRO, shuffle=True)
    test_loader = DataLoader(test, batch_size=230)
    model = GatedMLP(10)
    ema = EMA(model, 0.99)
    optimizer = torch.optim.AdamW(model.parameters(), lr=6e-3, weight_decay=1e-3)
    per_epoch = math.ceil(len(loader) / ACCUMULATE)
    scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=EPOCHS * per_epoch)

    for epoch in range(EPOCHS):
        model.train()
        total = 0.0
        for group in groups(loader, ACCUMULATE):
            samples = sum(len(yb) for _, yb in group)
            for xb, yb in group:
                with torch.autocast("cpu", dtype=torch.bfloat16):
                    pred = model(xb)
                loss = nn.functional.smooth_l1_loss(pred.float(), yb, beta=0.5, reduction="sum") / samples
                loss.backward()
                total += loss.item() * samples
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            scheduler.step()
            optimizer.zero_grad(set_to_none=True)
            ema.update(model)
        print(f"epoch {epoch + 1:2d}  train {total / len(train):.4f}  test rmse {rmse(model, test_loader) * std:.3f}  "
              f"ema {rmse(ema.shadow, test_loader) * std:.3f}  (mean only: {y[test.indices].std():.3f}, noise 0.700)")


if __name__ == "__main__":
    main()
