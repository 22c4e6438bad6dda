"""Rain class (none / light / heavy) from radar columns. Mixed precision with gradient accumulation."""
import contextlib

import torch
import torch.nn as nn
from torch.amp import GradScaler, autocast
from torch.utils.data import DataLoader, TensorDataset

ACCUM = 4
MICRO = 16
MAX_NORM = 1.0


def radar(n, seed):
    g = torch.Generator().manual_seed(seed)
    height = torch.linspace(0, 1, 32)
    strength = torch.rand(n, generator=g)
    melt = 0.3 + 0.3 * torch.rand(n, generator=g)
    refl = strength[:, None] * torch.sigmoid((melt[:, None] - height) * 12)
    bright = 0.4 * strength[:, None] * torch.exp(-((height - melt[:, None]) ** 2) / 0.004)
    x = refl + bright + 0.15 * torch.randn(n, 32, generator=g)
    ground = strength * (1 - 0.5 * melt)
    y = torch.bucketize(ground, torch.tensor([0.25, 0.5]))
    return (x - 0.3) / 0.35, y


class RadarNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Sequential(nn.Conv1d(1, 16, 5, padding=2), nn.ReLU(), nn.Conv1d(16, 16, 5, stride=2, padding=2), nn.ReLU())
        self.fc = nn.Sequential(nn.Flatten(), nn.Linear(16 * 16, 48), nn.ReLU(), nn.Linear(48, 3))

    def forward(self, x):
        return self.fc(self.conv(x.unsqueeze(1)))


def evaluate(model, x, y):
    model.eval()
    with torch.no_grad():
        logits = model(x)
    return nn.functional.cross_entropy(logits, y).item(), (logits.argmax(1) == y).float().mean().item()


def main():
    torch.manual_seed(0)
    device = "cuda" if torch.cuda.is_available() else "cpu"
    dtype = torch.float16 if device == "cuda" else torch.bfloat16
    x, y = radar(2048, 0)
    xv, yv = radar(800, 1)
    loader = DataLoader(TensorDataset(x, y), batch_size=MICRO, shuffle=True)
    model = RadarNet().to(device)
    opt = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9, nesterov=True)
    scaler = GradScaler(device)
    criterion = nn.CrossEntropyLoss()
    for epoch in range(10):
        model.train()
        opt.zero_grad(set_to_none=True)
        seen = 0.0
        for i, (xb, yb) in enumerate(loader):
            with autocast(device, dtype=dtype):
                out = model(xb.to(device))
                loss = criterion(out.float(), yb.to(device)) / ACCUM
            scaler.scale(loss).backward()
            seen += loss.item() * ACCUM
            if (i + 1) % ACCUM == 0:
                nn.utils.clip_grad_norm_(model.parameters(), MAX_NORM)
                scaler.step(opt)
                scaler.update()
                opt.zero_grad(set_to_none=True)
        vl, va = evaluate(model, xv, yv)
        print(f"epoch {epoch} train {seen / len(loader):.4f} val {vl:.4f} acc {va:.3f} scale {scaler.get_scale():.0f}")


if __name__ == "__main__":
    main()
