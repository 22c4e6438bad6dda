"""Deflection of a loaded beam (in metres), half precision with gradient accumulation."""
import argparse

import torch
import torch.nn as nn


def get_args():
    p = argparse.ArgumentParser()
    p.add_argument("--epochs", type=int, default=14)
    p.add_argument("--micro-batch", type=int, default=32)
    p.add_argument("--accum", type=int, default=2)
    p.add_argument("--lr", type=float, default=3e-3)
    p.add_argument("--width", type=int, default=64)
    p.add_argument("--seed", type=int, default=0)
    return p.parse_args()


MM = 1e-3


def beams(n, gen):
    """Simply supported beam: where it is looked at, where the load sits, load, span and stiffness."""
    u = torch.rand(n, 5, generator=gen)
    look, at, load, span, stiff = u.unbind(1)
    a = 0.1 + 0.8 * at
    force, length, ei = 200 + 800 * load, 1 + span, 2e4 + 4e4 * stiff
    lo, hi = torch.minimum(look, a), torch.maximum(look, a)
    w = force * length ** 3 / (6 * ei) * lo * (1 - hi) * (1 - lo ** 2 - (1 - hi) ** 2)
    return 2 * u - 1, w.unsqueeze(1)


class DeflectionNet(nn.Module):
    """The body works in millimetres; the result is handed out in metres."""

    def __init__(self, width):
        super().__init__()
        self.body = nn.Sequential(
            nn.Linear(5, width), nn.GELU(),
            nn.Linear(width, width), nn.GELU(),
            nn.Linear(width, 1),
        )

    def forward(self, x):
        return self.body(x).float() * MM


def evaluate(model, x, y):
    model.eval()
    with torch.no_grad(), torch.autocast("cpu", dtype=torch.float16):
        pred = model(x)
    err = pred - y
    return (1 - err.pow(2).mean() / y.var()).item(), err.abs().mean().item() / MM


def main():
    args = get_args()
    torch.manual_seed(args.seed)
    gen = torch.Generator().manual_seed(args.seed + 1)
    x_train, y_train = beams(2400, gen)
    x_test, y_test = beams(600, gen)
    model = DeflectionNet(args.width)
    opt = torch.optim.Adam(model.parameters(), lr=args.lr, betas=(0.9, 0.99), eps=1e-15)
    spread = (y_test - y_train.median()).abs().mean().item() / MM
    print(f"deflection: mean {y_train.mean() / MM:.2f} mm, median predictor MAE {spread:.3f} mm")

    for epoch in range(args.epochs):
        model.train()
        order = torch.randperm(len(x_train)).split(args.micro_batch)
        running = 0.0
        opt.zero_grad(set_to_none=True)
        for i, idx in enumerate(order, start=1):
            with torch.autocast("cpu", dtype=torch.float16):
                pred = model(x_train[idx])
            loss = nn.functional.mse_loss(pred, y_train[idx])
            (loss / args.accum).backward()
            running += loss.item()
            if i % args.accum == 0 or i == len(order):
                opt.step()
                opt.zero_grad(set_to_none=True)
        r2, mae = evaluate(model, x_test, y_test)
        print(f"epoch {epoch + 1:2d}: train mse {running / len(order):.3e} m^2  test R2 {r2:.4f}  test MAE {mae:.3f} mm")


if __name__ == "__main__":
    main()
