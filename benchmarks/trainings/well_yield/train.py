"""Predict the yield of water wells; settings in config.yaml."""
from pathlib import Path

import torch
import yaml
from torch import nn
from torch.utils.data import DataLoader

from dataset import load


def build_model(n_inputs, hidden, dropout):
    layers, width = [], n_inputs
    for h in hidden:
        layers += [nn.Linear(width, h), nn.ReLU(), nn.Dropout(dropout)]
        width = h
    layers.append(nn.Linear(width, 1))
    return nn.Sequential(*layers)


def run_epoch(model, loader, optimizer=None):
    model.train(optimizer is not None)
    sq, n, preds, ys = 0.0, 0, [], []
    with torch.set_grad_enabled(optimizer is not None):
        for x, y in loader:
            pred = model(x).squeeze(-1)
            loss = nn.functional.mse_loss(pred, y)
            if optimizer is not None:
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
            sq += loss.item() * len(y)
            n += len(y)
            preds.append(pred.detach())
            ys.append(y)
    preds, ys = torch.cat(preds), torch.cat(ys)
    r2 = 1 - ((preds - ys) ** 2).sum() / ((ys - ys.mean()) ** 2).sum()
    return sq / n, r2.item()


def main():
    cfg = yaml.safe_load(Path(__file__).with_name("config.yaml").read_text())
    torch.manual_seed(cfg["seed"])
    train_set, valid_set, n_inputs, unit = load(cfg)
    train_loader = DataLoader(train_set, batch_size=cfg["batch_size"], shuffle=True)
    valid_loader = DataLoader(valid_set, batch_size=256)
    model = build_model(n_inputs, **cfg["model"])
    optimizer = torch.optim.AdamW(model.parameters(), **cfg["optimizer"])
    for epoch in range(1, cfg["epochs"] + 1):
        train_mse, _ = run_epoch(model, train_loader, optimizer)
        valid_mse, r2 = run_epoch(model, valid_loader)
        if epoch % 2 == 0:
            print(f"epoch {epoch:3d}: train mse {train_mse:.4f}  valid rmse {valid_mse ** 0.5 * unit:.3f} l/s  r2 {r2:.3f}")


if __name__ == "__main__":
    main()
