"""Heat-flux regression with accelerate; effective batch of 64 made of micro-batches of 16."""
import math

import torch
from accelerate import Accelerator
from accelerate.utils import set_seed
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


def flux(x):
    a, b, c, d = x.unbind(-1)
    return torch.sin(2 * a) * b - 1.5 * c.abs() + torch.tanh(3 * d) * a - 2.0


def build_data(n, noise, generator):
    x = torch.rand(n, 4, generator=generator) * 4 - 2
    y = flux(x) + noise * torch.randn(n, generator=generator)
    return TensorDataset(x, y)


class FluxNet(nn.Module):
    def __init__(self, width=64):
        super().__init__()
        self.inp = nn.Linear(4, width)
        self.hidden = nn.ModuleList(nn.Linear(width, width) for _ in range(3))
        self.out = nn.Linear(width, 1)

    def forward(self, x):
        h = torch.nn.functional.silu(self.inp(x))
        for layer in self.hidden:
            h = h + torch.nn.functional.silu(layer(h))
        return self.out(h).squeeze(-1)


def main():
    set_seed(5)
    accelerator = Accelerator(cpu=True, gradient_accumulation_steps=4)
    gen = torch.Generator().manual_seed(99)
    train_dl = DataLoader(build_data(3000, 0.1, gen), batch_size=16, shuffle=True, drop_last=True)
    valid_dl = DataLoader(build_data(800, 0.0, gen), batch_size=200)

    model = FluxNet()
    optimizer = torch.optim.AdamW(model.parameters(), lr=4e-3, weight_decay=1e-4)
    epochs = 12
    updates = epochs * math.ceil(len(train_dl) / 4)
    scheduler = torch.optim.lr_scheduler.OneCycleLR(optimizer, max_lr=4e-3, total_steps=updates + 1)
    model, optimizer, train_dl, valid_dl, scheduler = accelerator.prepare(
        model, optimizer, train_dl, valid_dl, scheduler
    )
    criterion = nn.HuberLoss(delta=1.0)

    for epoch in range(epochs):
        model.train()
        seen, acc_loss = 0, 0.0
        for x, y in train_dl:
            with accelerator.accumulate(model):
                loss = criterion(model(x), y)
                accelerator.backward(loss)
                if accelerator.sync_gradients:
                    accelerator.clip_grad_norm_(model.parameters(), 5.0)
                optimizer.step()
                scheduler.step()
                optimizer.zero_grad()
            acc_loss += loss.item() * len(y)
            seen += len(y)

        model.eval()
        preds, targets = [], []
        for x, y in valid_dl:
            with torch.no_grad():
                p = model(x)
            p, y = accelerator.gather_for_metrics((p, y))
            preds.append(p)
            targets.append(y)
        preds, targets = torch.cat(preds), torch.cat(targets)
        r2 = 1 - ((preds - targets) ** 2).sum() / ((targets - targets.mean()) ** 2).sum()
        accelerator.print(
            f"epoch {epoch + 1:2d} train huber {acc_loss / seen:.4f} valid r2 {r2.item():.4f} "
            f"lr {scheduler.get_last_lr()[0]:.2e}"
        )


if __name__ == "__main__":
    main()
