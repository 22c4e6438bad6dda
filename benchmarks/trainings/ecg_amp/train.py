"""Heart-beat type from a one-lead trace; mixed precision with gradient accumulation."""
import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

from engine import train_epoch, validate

LENGTH = 96
CLASSES = ("normal", "early", "wide", "inverted-T")


def beat(rng, kind):
    t = np.linspace(0, 1, LENGTH)
    bump = lambda c, w, a: a * np.exp(-((t - c) ** 2) / (2 * w ** 2))
    r = rng.uniform(0.42, 0.52) - (0.14 if kind == 1 else 0.0)
    width = rng.uniform(0.012, 0.02) * (2.4 if kind == 2 else 1.0)
    tee = rng.uniform(0.2, 0.35) * (-1 if kind == 3 else 1)
    x = bump(r - 0.16, 0.03, rng.uniform(0.1, 0.2)) + bump(r, width, rng.uniform(0.9, 1.3))
    x += bump(r + 0.05, width, -0.25) + bump(r + 0.3, 0.05, tee)
    x += 0.2 * np.sin(2 * np.pi * (rng.uniform(0.5, 1.5) * t + rng.random()))
    return x + rng.normal(0, 0.06, LENGTH)


def dataset(n, seed):
    rng = np.random.default_rng(seed)
    y = rng.integers(len(CLASSES), size=n)
    x = np.stack([beat(rng, k) for k in y])[:, None]
    return TensorDataset(torch.tensor(x, dtype=torch.float32), torch.tensor(y))


class ConvBeat(nn.Module):
    def __init__(self, ch=16):
        super().__init__()
        self.features = nn.Sequential(
            nn.Conv1d(1, ch, 7, stride=2, padding=3), nn.GELU(),
            nn.Conv1d(ch, 2 * ch, 5, stride=2, padding=2), nn.GELU(),
            nn.Conv1d(2 * ch, 2 * ch, 5, stride=2, padding=2), nn.GELU(),
        )
        self.head = nn.Linear(2 * ch * (LENGTH // 8), len(CLASSES))

    def forward(self, x):
        return self.head(self.features(x).flatten(1))


def main():
    torch.manual_seed(5)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    amp_dtype = torch.float16 if device.type == "cuda" else torch.bfloat16
    train_loader = DataLoader(dataset(2400, 0), batch_size=16, shuffle=True, drop_last=True)
    val_loader = DataLoader(dataset(600, 1), batch_size=200)
    model = ConvBeat().to(device)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.04, momentum=0.9)
    scaler = torch.amp.GradScaler(device.type, enabled=amp_dtype == torch.float16)
    criterion = nn.CrossEntropyLoss()
    for epoch in range(8):
        loss, norm = train_epoch(
            model, train_loader, criterion, optimizer, scaler, device, amp_dtype, accum=3, max_norm=4.0
        )
        val_loss, val_acc = validate(model, val_loader, criterion, device)
        print(f"epoch {epoch}: loss={loss:.4f} grad_norm={norm:.3f} val_loss={val_loss:.4f} val_acc={val_acc:.3f}")


if __name__ == "__main__":
    main()
