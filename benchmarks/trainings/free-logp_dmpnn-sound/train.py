"""Train a D-MPNN on the virtual logP library."""
import argparse
import time

import torch
from sklearn.metrics import mean_absolute_error, r2_score
from torch.utils.data import DataLoader

from dmpnn.featurize import collate, featurize
from dmpnn.model import DMPNN
from dmpnn.molecules import make_library


def parse_args():
    p = argparse.ArgumentParser()
    p.add_argument("--seed", type=int, default=0)
    p.add_argument("--n-train", type=int, default=1000)
    p.add_argument("--epochs", type=int, default=14)
    p.add_argument("--batch-size", type=int, default=32)
    p.add_argument("--lr", type=float, default=4e-3)
    p.add_argument("--hidden", type=int, default=64)
    p.add_argument("--depth", type=int, default=3)
    return p.parse_args()


@torch.no_grad()
def predict(model, loader, mean, std):
    model.eval()
    pred, true = [], []
    for batch in loader:
        pred.append(model(batch) * std + mean)
        true.append(batch.y)
    return torch.cat(pred).numpy(), torch.cat(true).numpy()


def main():
    args = parse_args()
    torch.manual_seed(args.seed)
    graphs = [featurize(m) for m in make_library(args.n_train + 600, seed=100 + args.seed)]
    train = graphs[:args.n_train]
    valid = graphs[args.n_train:args.n_train + 300]
    test = graphs[args.n_train + 300:]
    y = torch.tensor([g.y for g in train])
    mean, std = y.mean(), y.std()
    print(f"train {len(train)}  valid {len(valid)}  test {len(test)}  logP {mean:.2f} +- {std:.2f}")

    loader = DataLoader(train, args.batch_size, shuffle=True, collate_fn=collate)
    valid_loader = DataLoader(valid, 100, collate_fn=collate)
    test_loader = DataLoader(test, 100, collate_fn=collate)

    model = DMPNN(train[0].atom_x.size(1), train[0].bond_x.size(1), args.hidden, args.depth)
    opt = torch.optim.Adam(model.parameters(), lr=args.lr)
    sched = torch.optim.lr_scheduler.OneCycleLR(opt, args.lr, total_steps=args.epochs * len(loader))
    best, best_state, t0 = float("inf"), None, time.time()
    for epoch in range(1, args.epochs + 1):
        model.train()
        running = 0.0
        for batch in loader:
            loss = torch.nn.functional.mse_loss(model(batch), (batch.y - mean) / std)
            opt.zero_grad()
            loss.backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), 5.0)
            opt.step()
            sched.step()
            running += loss.item() * len(batch.y)
        pred, true = predict(model, valid_loader, mean, std)
        mae = mean_absolute_error(true, pred)
        if mae < best:
            best = mae
            best_state = {k: v.clone() for k, v in model.state_dict().items()}
        if epoch % 5 == 0 or epoch == 1:
            print(f"epoch {epoch:3d}  train mse {running / len(train):.4f}  valid MAE {mae:.3f}"
                  f"  R2 {r2_score(true, pred):.3f}")
    model.load_state_dict(best_state)
    pred, true = predict(model, test_loader, mean, std)
    print(f"test MAE {mean_absolute_error(true, pred):.3f}  R2 {r2_score(true, pred):.3f}"
          f"  ({time.time() - t0:.0f} s)")


if __name__ == "__main__":
    main()
