# Grain quality from hyperspectral pixels; bf16 autocast, micro batches of 8, 8 of them per update.
# Only every eighth backward is followed by a step, the gradients in between are meant to add up.
import math
import torch
from torch import nn

torch.manual_seed(101)
BANDS, CLASSES = 40, 5
MICRO_BATCH, ACCUMULATE = 8, 8
EPOCHS = 8


def pixels(n, g):
    y = torch.randint(CLASSES, (n,), generator=g)
    wl = torch.linspace(0, 1, BANDS)
    centre = 0.2 + 0.13 * y.float()
    width = 0.05 + 0.02 * torch.rand(n, generator=g)
    dip = torch.exp(-((wl - centre[:, None]) ** 2) / (2 * width[:, None] ** 2))
    slope = torch.rand(n, 1, generator=g) * wl
    x = 0.6 + slope - 0.25 * dip + 0.12 * torch.randn(n, BANDS, generator=g)
    return x, y


class Spectra(nn.Module):
    def __init__(self, d=64):
        super().__init__()
        self.a = nn.Linear(BANDS, d)
        self.b = nn.Linear(d, d)
        self.ln = nn.LayerNorm(d)
        self.out = nn.Linear(d, CLASSES)

    def forward(self, x):
        h = torch.nn.functional.gelu(self.a(x))
        h = self.ln(h + torch.nn.functional.gelu(self.b(h)))
        return self.out(h)


def main():
    g = torch.Generator().manual_seed(7)
    x, y = pixels(3072, g)
    xt, yt = pixels(1000, g)
    mu, sd = x.mean(0), x.std(0)
    x, xt = (x - mu) / sd, (xt - mu) / sd

    model = Spectra()
    optimizer = torch.optim.AdamW(model.parameters(), lr=4e-3, weight_decay=1e-2)
    scaler = torch.amp.GradScaler("cpu", init_scale=2.0 ** 12)
    updates = EPOCHS * (len(x) // (MICRO_BATCH * ACCUMULATE))
    schedule = torch.optim.lr_scheduler.LambdaLR(
        optimizer, lambda k: min(1.0, (k + 1) / 20) * 0.5 * (1 + math.cos(math.pi * min(1.0, k / updates))))

    for epoch in range(EPOCHS):
        model.train()
        total, norms = 0.0, []
        micro = torch.randperm(len(x)).split(MICRO_BATCH)
        for k, idx in enumerate(micro, start=1):
            with torch.autocast("cpu", dtype=torch.bfloat16):
                logits = model(x[idx])
            loss = nn.functional.cross_entropy(logits.float(), y[idx])
            scaler.scale(loss / ACCUMULATE).backward()
            total += loss.item()
            if k % ACCUMULATE:
                continue
            scaler.unscale_(optimizer)
            norms.append(nn.utils.clip_grad_norm_(model.parameters(), 2.0).item())
            scaler.step(optimizer)
            scaler.update()
            optimizer.zero_grad()
            schedule.step()
        model.eval()
        with torch.no_grad(), torch.autocast("cpu", dtype=torch.bfloat16):
            acc = (model(xt).argmax(1) == yt).float().mean().item()
        print(f"epoch {epoch}: loss {total / len(micro):.4f} median grad norm {sorted(norms)[len(norms) // 2]:.2f} test acc {acc:.3f}")
    print(f"largest class {yt.bincount().max().item() / len(yt):.3f}")


if __name__ == "__main__":
    main()
