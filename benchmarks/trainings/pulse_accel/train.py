"""Classify pulse shapes with a 1-d ResNet, launched through accelerate."""
import numpy as np
import torch
from accelerate import Accelerator
from accelerate.utils import set_seed
from torch import nn
from torch.utils.data import DataLoader, Dataset


class PulseDataset(Dataset):
    kinds = ("gauss", "lorentz", "box", "saw", "double")

    def __init__(self, n, seed):
        rng = np.random.default_rng(seed)
        t = np.linspace(-1, 1, 48)
        self.y = rng.integers(0, len(self.kinds), n)
        rows = []
        for label in self.y:
            c, w = rng.uniform(-0.4, 0.4), rng.uniform(0.12, 0.3)
            u = (t - c) / w
            shape = {
                0: np.exp(-u**2 / 2),
                1: 1 / (1 + u**2),
                2: (np.abs(u) < 1.2).astype(float),
                3: np.clip(u + 1, 0, 2) / 2 * (np.abs(u) < 1),
                4: np.exp(-(u - 1) ** 2 * 2) + np.exp(-(u + 1) ** 2 * 2),
            }[int(label)]
            rows.append(shape + rng.normal(0, 0.15, t.size))
        self.x = np.stack(rows).astype(np.float32)

    def __len__(self):
        return len(self.y)

    def __getitem__(self, i):
        return {"signal": self.x[i][None], "label": int(self.y[i])}


class Residual(nn.Module):
    def __init__(self, ch):
        super().__init__()
        self.a = nn.Conv1d(ch, ch, 5, padding=2)
        self.b = nn.Conv1d(ch, ch, 5, padding=2)

    def forward(self, x):
        return torch.relu(x + self.b(torch.relu(self.a(x))))


def build_model(ch=20, classes=5):
    return nn.Sequential(
        nn.Conv1d(1, ch, 7, stride=2, padding=3), nn.ReLU(),
        Residual(ch), nn.MaxPool1d(2), Residual(ch),
        nn.AdaptiveAvgPool1d(4), nn.Flatten(), nn.Linear(4 * ch, classes),
    )


def main():
    set_seed(21)
    accelerator = Accelerator(cpu=True)
    train_dl = DataLoader(PulseDataset(2500, 0), batch_size=32, shuffle=True)
    eval_dl = DataLoader(PulseDataset(600, 1), batch_size=100)
    model = build_model()
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3, weight_decay=0.1)
    epochs = 8
    scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=epochs * len(train_dl))
    model, optimizer, train_dl, eval_dl, scheduler = accelerator.prepare(
        model, optimizer, train_dl, eval_dl, scheduler
    )
    criterion = nn.CrossEntropyLoss()

    for epoch in range(epochs):
        model.train()
        total = 0.0
        for batch in train_dl:
            loss = criterion(model(batch["signal"]), batch["label"])
            accelerator.backward(loss)
            optimizer.step()
            scheduler.step()
            optimizer.zero_grad()
            total += loss.item()
        model.eval()
        right = seen = 0
        for batch in eval_dl:
            with torch.no_grad():
                pred = model(batch["signal"]).argmax(-1)
            pred, ref = accelerator.gather_for_metrics((pred, batch["label"]))
            right += (pred == ref).sum().item()
            seen += len(ref)
        accelerator.print(f"epoch {epoch}: train_loss={total / len(train_dl):.4f} accuracy={right / seen:.3f}")


if __name__ == "__main__":
    main()
