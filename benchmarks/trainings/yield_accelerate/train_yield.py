"""Crop yield regression from weather-station and soil records, trained with Accelerate."""
import numpy as np
import torch
from accelerate import Accelerator
from accelerate.utils import set_seed
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

COLUMNS = ["rain_mm", "radiation_j", "temperature_c", "soil_ph", "altitude_m", "nitrogen_ppm", "pressure_pa", "clay_share"]


def field_records(n, rng):
    rain = rng.normal(620, 120, n)
    radiation = rng.normal(1.8e4, 2.5e3, n)
    temperature = rng.normal(16, 4, n)
    ph = rng.normal(6.4, 0.6, n)
    altitude = rng.uniform(50, 1200, n)
    nitrogen = rng.gamma(4, 9, n)
    pressure = 101325 - 11.5 * altitude + rng.normal(0, 300, n)
    clay = rng.beta(3, 4, n)
    z = lambda v: (v - v.mean()) / v.std()
    produce = (5.0 + 1.1 * np.tanh(z(rain)) - 0.6 * z(temperature) ** 2 * 0.5 + 0.7 * z(nitrogen) - 0.8 * np.abs(z(ph))
               + 0.5 * z(radiation) * np.tanh(z(rain)) - 0.9 * clay * 2 + rng.normal(0, 0.2, n))
    x = np.stack([rain, radiation, temperature, ph, altitude, nitrogen, pressure, clay], axis=1)
    return x.astype(np.float32), produce.astype(np.float32)[:, None]


class YieldNet(nn.Module):
    def __init__(self, n_in, width=96):
        super().__init__()
        self.net = nn.Sequential(
            nn.Linear(n_in, width), nn.ReLU(),
            nn.Linear(width, width), nn.ReLU(),
            nn.Linear(width, 1),
        )

    def forward(self, x):
        return self.net(x)


def loaders(batch_size, seed):
    rng = np.random.default_rng(seed)
    x, y = field_records(3600, rng)
    split = 3000
    train = TensorDataset(torch.from_numpy(x[:split]), torch.from_numpy(y[:split]))
    val = TensorDataset(torch.from_numpy(x[split:]), torch.from_numpy(y[split:]))
    return DataLoader(train, batch_size, shuffle=True), DataLoader(val, 300)


def evaluate(accelerator, model, loader):
    model.eval()
    preds, truths = [], []
    for x, y in loader:
        with torch.no_grad():
            p = model(x)
        p, y = accelerator.gather_for_metrics((p, y))
        preds.append(p)
        truths.append(y)
    p, y = torch.cat(preds), torch.cat(truths)
    rmse = (p - y).pow(2).mean().sqrt().item()
    r2 = 1 - ((p - y).pow(2).sum() / (y - y.mean()).pow(2).sum()).item()
    return rmse, r2


def main():
    set_seed(36)
    accelerator = Accelerator(cpu=True)
    train_dl, val_dl = loaders(64, 36)
    model = YieldNet(len(COLUMNS))
    optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
    epochs = 15
    scheduler = torch.optim.lr_scheduler.OneCycleLR(optimizer, max_lr=2e-3, total_steps=epochs * len(train_dl))
    model, optimizer, train_dl, val_dl, scheduler = accelerator.prepare(model, optimizer, train_dl, val_dl, scheduler)
    loss_fn = nn.MSELoss()

    for epoch in range(1, epochs + 1):
        model.train()
        total = 0.0
        for x, y in train_dl:
            optimizer.zero_grad()
            loss = loss_fn(model(x), y)
            accelerator.backward(loss)
            accelerator.clip_grad_norm_(model.parameters(), 5.0)
            optimizer.step()
            scheduler.step()
            total += loss.item()
        rmse, r2 = evaluate(accelerator, model, val_dl)
        accelerator.print(f"epoch {epoch:2d} train mse {total / len(train_dl):.4f} val rmse {rmse:.4f} val R2 {r2:.4f}")


if __name__ == "__main__":
    main()
