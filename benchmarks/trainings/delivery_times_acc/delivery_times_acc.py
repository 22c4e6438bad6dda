"""Courier delivery time (log minutes), trained through accelerate."""
import math

import torch
from accelerate import Accelerator
from accelerate.utils import set_seed
from torch import nn
from torch.utils.data import DataLoader, Dataset


class Deliveries(Dataset):
    def __init__(self, n, seed):
        g = torch.Generator().manual_seed(seed)
        self.dist = torch.rand(n, generator=g) * 12
        self.hour = torch.rand(n, generator=g) * 24
        self.zone = torch.randint(12, (n,), generator=g)
        self.bike = (torch.rand(n, generator=g) < 0.4).float()
        zone_effect = torch.randn(12, generator=torch.Generator().manual_seed(5)) * 0.3
        rush = torch.exp(-((self.hour - 17.5) ** 2) / 6) * (1 - 0.7 * self.bike)
        y = torch.log(6 + self.dist * (2.2 + 0.9 * self.bike)) + 0.5 * rush + zone_effect[self.zone]
        self.y = (y - 3.1) / 0.6 + 0.08 * torch.randn(n, generator=g)

    def __len__(self):
        return len(self.y)

    def __getitem__(self, i):
        h = 2 * math.pi * self.hour[i] / 24
        num = torch.stack([self.dist[i] / 6 - 1, torch.sin(h), torch.cos(h), torch.sin(2 * h), self.bike[i] * 2 - 1])
        return {"num": num, "zone": self.zone[i], "y": self.y[i]}


class Eta(nn.Module):
    def __init__(self):
        super().__init__()
        self.zone = nn.Embedding(12, 6)
        self.mlp = nn.Sequential(nn.Linear(11, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 1))

    def forward(self, num, zone):
        return self.mlp(torch.cat([num, self.zone(zone)], dim=-1)).squeeze(-1)


def main():
    set_seed(0)
    accelerator = Accelerator(cpu=True)
    train_dl = DataLoader(Deliveries(3000, 1), batch_size=64, shuffle=True)
    val_dl = DataLoader(Deliveries(800, 2), batch_size=200)
    model = Eta()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.02, momentum=0.9)
    model, optimizer, train_dl, val_dl = accelerator.prepare(model, optimizer, train_dl, val_dl)
    epochs = 12
    scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=epochs)
    for epoch in range(epochs):
        model.train()
        running = 0.0
        for batch in train_dl:
            out = model(batch["num"], batch["zone"])
            loss = nn.functional.huber_loss(out, batch["y"])
            accelerator.backward(loss)
            optimizer.step()
            running += loss.item()
        scheduler.step()
        model.eval()
        errs = []
        for batch in val_dl:
            with torch.no_grad():
                out = model(batch["num"], batch["zone"])
            out, y = accelerator.gather_for_metrics((out, batch["y"]))
            errs.append((out - y).abs())
        if epoch % 3 == 2:
            accelerator.print(f"epoch {epoch + 1} train {running / len(train_dl):.4f} val mae {torch.cat(errs).mean().item():.4f}")
    everything = torch.cat([b["y"] for b in val_dl])
    accelerator.print(f"mae of the median {(everything - everything.median()).abs().mean().item():.4f}")


if __name__ == "__main__":
    main()
