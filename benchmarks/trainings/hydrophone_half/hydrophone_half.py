"""Ship / whale / rain from hydrophone snippets with a learnable filter bank, run in half precision."""
import math

import torch
from torch import nn

FS, LEN = 1000, 200


class FilterBank(nn.Module):
    """starts as sines and cosines, power per band in log scale"""

    def __init__(self, bands=24, width=50):
        super().__init__()
        f = torch.linspace(20, 400, bands)
        t = torch.arange(width) / FS
        win = torch.hann_window(width)
        w = torch.cat([torch.sin(2 * math.pi * f[:, None] * t) * win, torch.cos(2 * math.pi * f[:, None] * t) * win])
        self.conv = nn.Conv1d(1, 2 * bands, width, stride=15, bias=False)
        self.conv.weight.data.copy_(w[:, None])
        self.bands = bands

    def forward(self, wave):
        z = self.conv(wave[:, None])
        power = z[:, :self.bands] ** 2 + z[:, self.bands:] ** 2
        return torch.log1p(power)


class Listener(nn.Module):
    def __init__(self):
        super().__init__()
        self.bank = FilterBank()
        self.norm = nn.BatchNorm1d(24)
        self.head = nn.Sequential(nn.Conv1d(24, 16, 3), nn.ReLU(), nn.AdaptiveAvgPool1d(1), nn.Flatten(), nn.Linear(16, 3))

    def forward(self, wave):
        return self.head(self.norm(self.bank(wave)))


def snippets(n, gen):
    """ADC counts after the preamplifier's gain of 1/8"""
    y = torch.randint(3, (n,), generator=gen)
    t = torch.arange(LEN) / FS
    u = lambda: torch.rand(n, 1, generator=gen)
    f0 = 60 + 60 * u()
    ship = torch.sin(2 * math.pi * f0 * t) + 0.6 * torch.sin(4 * math.pi * f0 * t)
    whale = torch.sin(2 * math.pi * (150 + 80 * u() * t / 0.2) * t)
    rain = torch.randn(n, LEN, generator=gen)
    stack = torch.stack([ship, whale, rain], 1)
    wave = stack[torch.arange(n), y]
    loud = 4 + 12 * torch.rand(n, 1, generator=gen)
    return loud * (wave + 0.8 * torch.randn(n, LEN, generator=gen)), y


def main():
    torch.manual_seed(6)
    gen = torch.Generator().manual_seed(0)
    x, y = snippets(1200, gen)
    xv, yv = snippets(500, gen)
    model = Listener()
    opt = torch.optim.Adam(model.parameters(), lr=2e-3)
    scaler = torch.amp.GradScaler("cpu")
    accumulate = 2
    for epoch in range(5):
        model.train()
        losses = []
        for i, idx in enumerate(torch.randperm(len(x)).split(30)):
            with torch.autocast("cpu", dtype=torch.float16):
                logits = model(x[idx])
            loss = nn.functional.cross_entropy(logits.float(), y[idx])
            scaler.scale(loss / accumulate).backward()
            losses.append(loss.item())
            if i % accumulate == accumulate - 1:
                scaler.step(opt)
                scaler.update()
                opt.zero_grad()
        model.eval()
        with torch.no_grad(), torch.autocast("cpu", dtype=torch.float16):
            acc = (model(xv).argmax(1) == yv).float().mean().item()
        print(f"epoch {epoch} loss {sum(losses) / len(losses):.4f} accuracy {acc:.3f}")


if __name__ == "__main__":
    main()
