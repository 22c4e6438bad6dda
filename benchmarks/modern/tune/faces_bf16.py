"""Digits with bf16 autocast, accumulation, warm-up and cosine decay."""

import math

import torch
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from torch import nn

MICRO, ACCUM, EPOCHS = 16, 4, 6
PEAK_LR, WARMUP = 4e-3, 20


class PatchMixer(nn.Module):
    """A mixer over the sixteen 2x2 patches of an 8x8 image."""

    def __init__(self, dim=32, depth=2, patches=16):
        super().__init__()
        self.embed = nn.Conv2d(1, dim, 2, stride=2)
        self.blocks = nn.ModuleList()
        for _ in range(depth):
            self.blocks.append(
                nn.ModuleDict(
                    {
                        "norm1": nn.LayerNorm(dim),
                        "tokens": nn.Sequential(nn.Linear(patches, 32), nn.GELU(), nn.Linear(32, patches)),
                        "norm2": nn.LayerNorm(dim),
                        "channels": nn.Sequential(nn.Linear(dim, 96), nn.GELU(), nn.Linear(96, dim)),
                    }
                )
            )
        self.norm = nn.LayerNorm(dim)
        self.head = nn.Linear(dim, 10)

    def forward(self, x):
        x = self.embed(x).flatten(2).transpose(1, 2)
        for b in self.blocks:
            x = x + b["tokens"](b["norm1"](x).transpose(1, 2)).transpose(1, 2)
            x = x + b["channels"](b["norm2"](x))
        return self.head(self.norm(x).mean(dim=1))


def param_groups(model, weight_decay):
    decay = [p for p in model.parameters() if p.ndim > 1]
    plain = [p for p in model.parameters() if p.ndim <= 1]
    return [{"params": decay, "weight_decay": weight_decay}, {"params": plain, "weight_decay": 0.0}]


def lr_factor(step, total):
    if step < WARMUP:
        return (step + 1) / WARMUP
    return 0.5 * (1 + math.cos(math.pi * (step - WARMUP) / max(1, total - WARMUP)))


def main():
    torch.manual_seed(64)
    digits = load_digits()
    x = torch.tensor(digits.images, dtype=torch.float32).unsqueeze(1) / 8 - 1
    y = torch.tensor(digits.target)
    tr, te = train_test_split(torch.arange(len(y)), test_size=0.2, random_state=64, stratify=y)

    model = PatchMixer()
    optimizer = torch.optim.AdamW(param_groups(model, 0.05), lr=PEAK_LR, betas=(0.9, 0.95))
    updates = EPOCHS * (len(tr) // (MICRO * ACCUM))
    scheduler = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda s: lr_factor(s, updates))
    scaler = torch.amp.GradScaler("cpu", enabled=False)
    criterion = nn.CrossEntropyLoss(label_smoothing=0.05)

    for epoch in range(EPOCHS):
        model.train()
        order = tr[torch.randperm(len(tr))]
        n_updates = len(order) // (MICRO * ACCUM)
        running = 0.0
        for chunk in order[: n_updates * MICRO * ACCUM].view(n_updates, ACCUM, MICRO):
            for idx in chunk:
                with torch.autocast("cpu", dtype=torch.bfloat16):
                    loss = criterion(model(x[idx]), y[idx])
                scaler.scale(loss / ACCUM).backward()
                running += loss.item() / ACCUM
            scaler.unscale_(optimizer)
            norm = nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            scaler.step(optimizer)
            scaler.update()
            optimizer.zero_grad(set_to_none=True)
            scheduler.step()
        model.eval()
        with torch.no_grad(), torch.autocast("cpu", dtype=torch.bfloat16):
            acc = (model(x[te]).argmax(1) == y[te]).float().mean().item()
        print(f"epoch {epoch:2d} loss {running / n_updates:.4f} grad norm {norm:.2f} acc {acc:.4f}")


if __name__ == "__main__":
    main()
