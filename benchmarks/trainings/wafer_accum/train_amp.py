"""Wafer-map defect classes from 30 process measurements; bfloat16 autocast, gradients accumulated to an effective
batch of 32 so that it fits on the small edge box."""
import time
from contextlib import nullcontext

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset, random_split

torch.manual_seed(61)

CFG = dict(
    features=30,
    classes=6,
    hidden=96,
    lr=2e-3,
    epochs=4,
    micro_batch=2,
    accumulate=16,
    amp=True,
)


def process_data(n, features, classes):
    gen = torch.Generator().manual_seed(610)
    mixing = torch.randn(8, features, generator=gen)
    centre = 1.6 * torch.randn(classes, 2, 8, generator=gen)   # two modes a class
    y = torch.randint(0, classes, (n,), generator=gen)
    mode = torch.randint(0, 2, (n,), generator=gen)
    latent = centre[y, mode] + 0.8 * torch.randn(n, 8, generator=gen)
    x = latent @ mixing / 8 ** 0.5 + 0.3 * torch.randn(n, features, generator=gen)
    return x / 1.7, y


class DefectNet(nn.Module):
    def __init__(self, features, hidden, classes):
        super().__init__()
        self.body = nn.Sequential(
            nn.Linear(features, hidden), nn.BatchNorm1d(hidden), nn.ReLU(),
            nn.Linear(hidden, hidden), nn.BatchNorm1d(hidden), nn.ReLU(),
        )
        self.head = nn.Linear(hidden, classes)

    def forward(self, x):
        return self.head(self.body(x))


def autocast():
    return torch.autocast("cpu", dtype=torch.bfloat16) if CFG["amp"] else nullcontext()


@torch.no_grad()
def validate(model, loader, criterion):
    model.eval()
    loss = hits = count = 0
    for x, y in loader:
        with autocast():
            out = model(x)
        out = out.float()
        loss += criterion(out, y).item() * len(y)
        hits += (out.argmax(1) == y).sum().item()
        count += len(y)
    return loss / count, hits / count


def main():
    x, y = process_data(2240, CFG["features"], CFG["classes"])
    train_set, val_set = random_split(TensorDataset(x, y), [1600, 640], torch.Generator().manual_seed(1))
    train = DataLoader(train_set, batch_size=CFG["micro_batch"], shuffle=True, drop_last=True)
    val = DataLoader(val_set, batch_size=256)
    model = DefectNet(CFG["features"], CFG["hidden"], CFG["classes"])
    criterion = nn.CrossEntropyLoss()
    optimizer = torch.optim.AdamW(model.parameters(), lr=CFG["lr"], weight_decay=1e-4)
    updates = CFG["epochs"] * (len(train) // CFG["accumulate"])
    scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, updates)

    for epoch in range(CFG["epochs"]):
        model.train()
        start, running = time.time(), 0.0
        optimizer.zero_grad(set_to_none=True)
        for i, (xb, yb) in enumerate(train):
            with autocast():
                logits = model(xb)
            loss = criterion(logits.float(), yb)
            (loss / CFG["accumulate"]).backward()
            running += loss.item()
            if (i + 1) % CFG["accumulate"] == 0:
                nn.utils.clip_grad_norm_(model.parameters(), 1.0)
                optimizer.step()
                scheduler.step()
                optimizer.zero_grad(set_to_none=True)
        val_loss, val_acc = validate(model, val, criterion)
        print(f"epoch {epoch + 1}: train loss {running / len(train):.4f}  val loss {val_loss:.4f}  "
              f"val acc {val_acc:.4f}  ({time.time() - start:.1f}s)")


if __name__ == "__main__":
    main()
