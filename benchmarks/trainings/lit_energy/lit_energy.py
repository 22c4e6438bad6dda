"""LightningModule that predicts the energy use of synthetic buildings with a configurable deep MLP."""
import lightning as L
import numpy as np
import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset, random_split


def simulate_buildings(n=3000, seed=0):
    rng = np.random.default_rng(seed)
    area = rng.uniform(40, 400, n)
    age = rng.uniform(0, 90, n)
    glass = rng.uniform(0.05, 0.7, n)
    outside = rng.normal(8, 9, n)
    people = rng.poisson(area / 35)
    sun = rng.uniform(0, 1, n)
    heat = np.maximum(0, 20 - outside) * area * (0.4 + 0.01 * age) * (1 + glass)
    cool = np.maximum(0, outside + 12 * glass * sun - 22) * area * 1.5
    load = heat + cool + 60 * people + rng.normal(0, 150, n)
    x = np.stack([area, age, glass, outside, people, sun], 1)
    return x.astype("float32"), load.astype("float32")


class BuildingData(L.LightningDataModule):
    def __init__(self, batch_size=64):
        super().__init__()
        self.batch_size = batch_size

    def setup(self, stage=None):
        x, y = simulate_buildings()
        x, y = torch.from_numpy(x), torch.from_numpy(y).unsqueeze(1)
        train, val = random_split(range(len(x)), [0.8, 0.2], generator=torch.Generator().manual_seed(1))
        rows = torch.tensor(list(train))
        mean, std = x[rows].mean(0), x[rows].std(0)
        y_mean, y_std = y[rows].mean(), y[rows].std()
        data = TensorDataset((x - mean) / std, (y - y_mean) / y_std)
        self.train_set = torch.utils.data.Subset(data, list(train))
        self.val_set = torch.utils.data.Subset(data, list(val))

    def train_dataloader(self):
        return DataLoader(self.train_set, batch_size=self.batch_size, shuffle=True)

    def val_dataloader(self):
        return DataLoader(self.val_set, batch_size=256)


class LoadNet(nn.Module):
    def __init__(self, n_in, width, depth):
        super().__init__()
        sizes = [n_in] + [width] * depth
        self.layers = []
        for a, b in zip(sizes[:-1], sizes[1:]):
            self.layers.append(nn.Sequential(nn.Linear(a, b), nn.SiLU()))
        self.out = nn.Linear(width, 1)

    def forward(self, x):
        for layer in self.layers:
            x = layer(x)
        return self.out(x)


class LitLoad(L.LightningModule):
    def __init__(self, width=16, depth=5, lr=3e-3):
        super().__init__()
        self.save_hyperparameters()
        self.net = LoadNet(6, width, depth)
        self.loss_fn = nn.MSELoss()

    def forward(self, x):
        return self.net(x)

    def training_step(self, batch, batch_idx):
        x, y = batch
        loss = self.loss_fn(self(x), y)
        self.log("train_loss", loss, on_step=False, on_epoch=True)
        return loss

    def validation_step(self, batch, batch_idx):
        x, y = batch
        pred = self(x)
        self.log("val_loss", self.loss_fn(pred, y))
        self.log("val_r2", 1 - ((pred - y) ** 2).sum() / ((y - y.mean()) ** 2).sum())

    def on_validation_epoch_end(self):
        m = self.trainer.callback_metrics
        if "val_r2" in m and self.current_epoch % 3 == 0:
            print(f"epoch {self.current_epoch} val_loss {m['val_loss']:.4f} R2 {m['val_r2']:.3f}")

    def configure_optimizers(self):
        opt = torch.optim.AdamW(self.parameters(), lr=self.hparams.lr)
        sched = torch.optim.lr_scheduler.CosineAnnealingLR(opt, T_max=self.trainer.max_epochs)
        return {"optimizer": opt, "lr_scheduler": {"scheduler": sched, "interval": "epoch"}}


def main():
    L.seed_everything(7, workers=True)
    trainer = L.Trainer(
        max_epochs=10, accelerator="cpu", logger=False, enable_checkpointing=False, enable_progress_bar=False
    )
    model = LitLoad()
    data = BuildingData()
    trainer.fit(model, datamodule=data)
    print(trainer.validate(model, datamodule=data, verbose=False))


if __name__ == "__main__":
    main()
