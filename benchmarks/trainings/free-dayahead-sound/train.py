"""Day-ahead forecast of household demand, one global model for the whole portfolio."""
import argparse

import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader

from meters import HOURS, simulate
from network import DayAheadNet
from windows import DayAheadWindows, scale_by_household


def parse_args():
    p = argparse.ArgumentParser()
    p.add_argument("--seed", type=int, default=0)
    p.add_argument("--households", type=int, default=24)
    p.add_argument("--days", type=int, default=500)
    p.add_argument("--test-days", type=int, default=90)
    p.add_argument("--epochs", type=int, default=8)
    p.add_argument("--batch-size", type=int, default=128)
    p.add_argument("--lr", type=float, default=2e-3)
    return p.parse_args()


@torch.no_grad()
def evaluate(model, loader, scale):
    model.eval()
    preds, truth, naive = [], [], []
    for history, future, target, household in loader:
        s = scale[household].unsqueeze(1)
        preds.append(model(history, future) * s)
        truth.append(target * s)
        naive.append(history[:, :HOURS] * s)
    preds, truth, naive = torch.cat(preds), torch.cat(truth), torch.cat(naive)
    return ((preds - truth).abs().mean().item(),
            (naive - truth).abs().mean().item(),
            ((preds - truth).abs().sum() / truth.sum()).item())


def main():
    args = parse_args()
    torch.manual_seed(args.seed)
    torch.set_num_threads(1)
    rng = np.random.default_rng(args.seed)

    load, calendar = simulate(args.households, args.days, rng)
    split = args.days - args.test_days
    scaled, scale = scale_by_household(load, split * HOURS)
    scale = torch.from_numpy(scale)
    train_set = DayAheadWindows(scaled, calendar, 0, split)
    test_set = DayAheadWindows(scaled, calendar, split, args.days)
    train_loader = DataLoader(train_set, batch_size=args.batch_size, shuffle=True)
    test_loader = DataLoader(test_set, batch_size=512)
    print(f"{len(train_set)} training days, {len(test_set)} test days")

    model = DayAheadNet(train_set.history, calendar.shape[1])
    optimizer = torch.optim.Adam(model.parameters(), lr=args.lr)
    scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, args.epochs)
    loss_fn = nn.L1Loss()

    for epoch in range(args.epochs):
        model.train()
        running = 0.0
        for history, future, target, _ in train_loader:
            loss = loss_fn(model(history, future), target)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            running += loss.item() * len(target)
        scheduler.step()
        mae, naive, wape = evaluate(model, test_loader, scale)
        print(f"epoch {epoch + 1:2d}  train {running / len(train_set):.4f}  "
              f"test MAE {mae:.4f} kWh  WAPE {100 * wape:.1f}%  same-day-last-week MAE {naive:.4f}")


if __name__ == "__main__":
    main()
