"""Concrete strength regression with accelerate: one process on CPU here, several GPUs on the cluster."""
import argparse

import numpy as np
import torch
from accelerate import Accelerator
from accelerate.utils import set_seed
from sklearn.metrics import r2_score
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


def parse_args():
    parser = argparse.ArgumentParser()
    parser.add_argument("--epochs", type=int, default=15)
    parser.add_argument("--batch-size", type=int, default=64)
    parser.add_argument("--lr", type=float, default=1e-3)
    parser.add_argument("--seed", type=int, default=0)
    return parser.parse_args()


def mix_samples(n, rng):
    cement = rng.uniform(100, 540, n)
    slag = rng.uniform(0, 350, n)
    ash = rng.uniform(0, 200, n)
    water = rng.uniform(120, 250, n)
    plasticizer = rng.uniform(0, 30, n)
    age = rng.choice([3, 7, 14, 28, 56, 90, 180], n)
    binder = cement + 0.7 * slag + 0.4 * ash
    strength = 22 * (binder / water) ** 1.1 * np.log1p(age) / np.log(29) + 0.3 * plasticizer + rng.normal(0, 2, n)
    features = np.column_stack([cement, slag, ash, water, plasticizer, age])
    return features.astype(np.float32), strength.astype(np.float32)


def build_loaders(args):
    rng = np.random.default_rng(args.seed)
    x, y = mix_samples(4000, rng)
    x_train, x_val, y_train, y_val = train_test_split(x, y, test_size=0.2, random_state=args.seed)
    fx, fy = StandardScaler().fit(x_train), StandardScaler().fit(y_train[:, None])

    def dataset(a, b):
        b = fy.transform(b[:, None]).ravel()
        return TensorDataset(torch.from_numpy(fx.transform(a)), torch.from_numpy(b.astype(np.float32)))

    train = DataLoader(dataset(x_train, y_train), batch_size=args.batch_size, shuffle=True)
    val = DataLoader(dataset(x_val, y_val), batch_size=512)
    return train, val


class StrengthNet(nn.Module):
    def __init__(self, n_features, hidden=64):
        super().__init__()
        self.inp = nn.Linear(n_features, hidden)
        self.mid = nn.Linear(hidden, hidden)
        self.out = nn.Linear(hidden, 1)
        self.act = nn.GELU()

    def forward(self, x):
        h = self.act(self.inp(x))
        h = h + self.act(self.mid(h))
        return self.out(h)


def evaluate(accelerator, model, loader):
    model.eval()
    preds, truth = [], []
    with torch.no_grad():
        for x, y in loader:
            out = model(x)
            out, y = accelerator.gather_for_metrics((out, y))
            preds.append(out.cpu().numpy().ravel())
            truth.append(y.cpu().numpy().ravel())
    return r2_score(np.concatenate(truth), np.concatenate(preds))


def main():
    args = parse_args()
    set_seed(args.seed)
    accelerator = Accelerator(cpu=True)
    train_loader, val_loader = build_loaders(args)
    model = StrengthNet(6)
    optimizer = torch.optim.AdamW(model.parameters(), lr=args.lr)
    scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, args.epochs * len(train_loader))
    criterion = nn.MSELoss()
    model, optimizer, train_loader, val_loader, scheduler = accelerator.prepare(
        model, optimizer, train_loader, val_loader, scheduler
    )
    for epoch in range(args.epochs):
        model.train()
        running = 0.0
        for x, y in train_loader:
            optimizer.zero_grad()
            loss = criterion(model(x), y)
            accelerator.backward(loss)
            accelerator.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            scheduler.step()
            running += loss.item()
        if epoch % 5 == 4:
            r2 = evaluate(accelerator, model, val_loader)
            accelerator.print(f"epoch {epoch + 1}: train mse {running / len(train_loader):.4f} val r2 {r2:.3f}")


if __name__ == "__main__":
    main()
