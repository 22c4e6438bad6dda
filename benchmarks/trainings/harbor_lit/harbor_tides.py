"""Predict harbour water level from astronomical and weather features (Lightning)."""
import logging
import math
import warnings

import lightning as L
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset

warnings.filterwarnings("ignore")
logging.getLogger("lightning.pytorch").setLevel(logging.ERROR)


def simulate(n, seed):
    rng = np.random.default_rng(seed)
    hours = rng.uniform(0, 24 * 60, n)
    pressure = rng.normal(0, 1, n)
    wind = rng.normal(0, 1, n)
    angle = rng.uniform(0, 2 * math.pi, n)
    m2 = np.cos(2 * math.pi * hours / 12.42)
    s2 = np.cos(2 * math.pi * hours / 12.0 + 0.4)
    level = 1.4 * m2 + 0.5 * s2 * m2 - 0.3 * pressure + 0.4 * wind * np.cos(angle) + 0.05 * rng.normal(size=n)
    feats = np.stack([m2, s2, pressure, wind, np.cos(angle), np.sin(angle)], axis=1)
    return torch.tensor(feats, dtype=torch.float32), torch.tensor(level, dtype=torch.float32)


class TideData(L.LightningDataModule):
    def __init__(self, batch_size=64):
        super().__init__()
        self.batch_size = batch_size

    def setup(self, stage=None):
        self.train_set = TensorDataset(*simulate(4000, 0))
        self.val_set = TensorDataset(*simulate(800, 1))

    def train_dataloader(self):
        return DataLoader(self.train_set, batch_size=self.batch_size, shuffle=True)

    def val_dataloader(self):
        return DataLoader(self.val_set, batch_size=400)


class TideNet(L.LightningModule):
    def __init__(self, lr=1e-3, width=64):
        super().__init__()
        self.save_hyperparameters()
        self.net = nn.Sequential(
            nn.Linear(6, width), nn.SiLU(),
            nn.Linear(width, width), nn.SiLU(),
            nn.Linear(width, 1),
        )

    def forward(self, x):
        return self.net(x).squeeze(-1)

    def training_step(self, batch, batch_idx):
        x, y = batch
        loss = F.mse_loss(self(x), y)
        self.log("train_loss", loss, on_epoch=True, on_step=False)
        return loss

    def validation_step(self, batch, batch_idx):
        x, y = batch
        self.log("val_rmse", F.mse_loss(self(x), y).sqrt())

    def configure_optimizers(self):
        optimizer = torch.optim.Adam(self.parameters(), lr=self.hparams.lr)
        # halve the rate every five epochs
        scheduler = torch.optim.lr_scheduler.StepLR(optimizer, step_size=5, gamma=0.5)
        return {
            "optimizer": optimizer,
            "lr_scheduler": {"scheduler": scheduler, "interval": "step", "name": "lr"},
        }


class PrintEpoch(L.Callback):
    def on_validation_epoch_end(self, trainer, module):
        if trainer.sanity_checking:
            return
        m = trainer.callback_metrics
        rmse = m.get("val_rmse")
        if rmse is not None:
            print(f"epoch {trainer.current_epoch:02d} val_rmse {rmse.item():.4f}")


def main():
    L.seed_everything(5, verbose=False)
    trainer = L.Trainer(
        max_epochs=20,
        accelerator="cpu",
        logger=False,
        enable_checkpointing=False,
        enable_progress_bar=False,
        enable_model_summary=False,
        num_sanity_val_steps=0,
        callbacks=[PrintEpoch()],
    )
    model = TideNet()
    trainer.fit(model, datamodule=TideData())
    print(f"final train_loss {trainer.callback_metrics['train_loss'].item():.4f} "
          f"val_rmse {trainer.callback_metrics['val_rmse'].item():.4f}")


if __name__ == "__main__":
    main()
