"""Stripe orientation and thickness (6 classes) from small noisy images, trained with Accelerate."""
import argparse

import torch
from accelerate import Accelerator
from accelerate.utils import set_seed
from torch import nn
from torch.utils.data import DataLoader, Dataset


class Stripes(Dataset):
    ANGLES = (0.0, 60.0, 120.0)
    PERIODS = (4.0, 7.0)

    def __init__(self, n, seed, size=16):
        g = torch.Generator().manual_seed(seed)
        self.y = torch.randint(0, 6, (n,), generator=g)
        yy, xx = torch.meshgrid(torch.arange(size), torch.arange(size), indexing="ij")
        ang = torch.tensor(self.ANGLES)[self.y % 3] + torch.randn(n, generator=g) * 8
        per = torch.tensor(self.PERIODS)[self.y // 3] + torch.randn(n, generator=g) * 0.3
        a = torch.deg2rad(ang)[:, None, None]
        u = (xx[None] * a.cos() + yy[None] * a.sin()) / per[:, None, None]
        ph = torch.rand(n, 1, 1, generator=g)
        self.x = torch.sin(2 * torch.pi * (u + ph))[:, None] + 0.6 * torch.randn(n, 1, size, size, generator=g)

    def __len__(self):
        return len(self.y)

    def __getitem__(self, i):
        return self.x[i], self.y[i]


def make_model():
    return nn.Sequential(
        nn.Conv2d(1, 12, 5, padding=2), nn.BatchNorm2d(12), nn.ReLU(), nn.MaxPool2d(2),
        nn.Conv2d(12, 24, 3, padding=1), nn.BatchNorm2d(24), nn.ReLU(),
        nn.AdaptiveAvgPool2d(2), nn.Flatten(),
        nn.Linear(96, 6),
    )


def parse():
    p = argparse.ArgumentParser()
    p.add_argument("--epochs", type=int, default=8)
    p.add_argument("--lr", type=float, default=0.05)
    p.add_argument("--momentum", type=float, default=0.9)
    p.add_argument("--weight-decay", type=float, default=1e-4)
    p.add_argument("--max-grad-norm", type=float, default=1e-4)
    p.add_argument("--batch-size", type=int, default=50)
    p.add_argument("--seed", type=int, default=13)
    return p.parse_args()


def main():
    args = parse()
    set_seed(args.seed)
    accelerator = Accelerator(cpu=True)

    train_loader = DataLoader(Stripes(2500, 1), batch_size=args.batch_size, shuffle=True)
    test_loader = DataLoader(Stripes(600, 2), batch_size=200)
    model = make_model()
    optimizer = torch.optim.SGD(model.parameters(), lr=args.lr, momentum=args.momentum, weight_decay=args.weight_decay)
    scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=args.epochs * len(train_loader))
    model, optimizer, train_loader, test_loader, scheduler = accelerator.prepare(
        model, optimizer, train_loader, test_loader, scheduler
    )
    criterion = nn.CrossEntropyLoss(label_smoothing=0.02)

    for epoch in range(args.epochs):
        model.train()
        running = 0.0
        for images, labels in train_loader:
            with accelerator.accumulate(model):
                loss = criterion(model(images), labels)
                accelerator.backward(loss)
                if accelerator.sync_gradients:
                    accelerator.clip_grad_norm_(model.parameters(), args.max_grad_norm)
                optimizer.step()
                scheduler.step()
                optimizer.zero_grad()
            running += loss.item()

        model.eval()
        right, seen = 0, 0
        for images, labels in test_loader:
            with torch.no_grad():
                guess = model(images).argmax(dim=-1)
            guess, labels = accelerator.gather_for_metrics((guess, labels))
            right += (guess == labels).sum().item()
            seen += labels.numel()
        accelerator.print(f"epoch {epoch + 1}: loss {running / len(train_loader):.4f}  test accuracy {right / seen:.4f}")


if __name__ == "__main__":
    main()
