"""Electric load of a building from outdoor conditions (LightningModule)."""
import logging
import warnings

import lightning as L
import numpy as np
import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

warnings.filterwarnings("ignore")
logging.getLogger("lightning.pytorch").setLevel(logging.ERROR)


class LoadData(L.LightningDataModule):
    def __init__(self, n=5000, batch_size=64):
        super().__init__()
        self.n, self.batch_size = n, batch_size

    def setup(self, stage=None):
        r = np.random.default_rng(0)
        hour = r.uniform(0, 24, self.n)
        temp = r.normal(12, 8, self.n)
        occ = np.clip(np.sin((hour - 7) / 12 * np.pi), 0, 1) * r.uniform(0.5, 1, self.n)
        sun = np.clip(np.cos((hour - 13) / 12 * np.pi), 0, 1) * r.uniform(0, 1, self.n)
        load = 20 + 2.2 * np.abs(temp - 18) * (0.4 + occ) + 35 * occ - 9 * sun + r.normal(0, 2.0, self.n)
        x = np.stack([np.sin(hour / 24 * 2 * np.pi), np.cos(hour / 24 * 2 * np.pi), temp / 10, occ, sun], 1)
        k = int(0.8 * self.n)
        self.y_mean, self.y_std = load[:k].mean(), load[:k].std()
        y = (load - self.y_mean) / self.y_std
        x, y = torch.tensor(x, dtype=torch.float32), torch.tensor(y, dtype=torch.float32)
        self.train, self.val = TensorDataset(x[:k], y[:k]), TensorDataset(x[k:], y[k:])

    def train_dataloader(self):
        return DataLoader(self.train, self.batch_size, shuffle=True)

    def val_dataloader(self):
        return DataLoader(self.val, 256)


class LoadNet(L.LightningModule):
    def __init__(self, width=48, lr=3e-3):
        super().__init__()
        self.save_hyperparameters()
        self.net = nn.Sequential(
            nn.Linear(5, width),
            nn.ReLU(),
            nn.Linear(width, width),
            nn.ReLU(),
            nn.Linear(width, 1),
            nn.Sigmoid(),
        )
        self.history = []

    def forward(self, x):
        return self.net(x).squeeze(-1)

    def training_step(self, batch, batch_idx):
        x, y = batch
        loss = F.mse_loss(self(x), y)
        self.log("train_loss", loss)
        return loss

    def on_validation_epoch_start(self):
        self._p, self._t = [], []

    def validation_step(self, batch, batch_idx):
        x, y = batch
        self._p.append(self(x))
        self._t.append(y)

    def on_validation_epoch_end(self):
        p, t = torch.cat(self._p), torch.cat(self._t)
        r2 = 1 - ((p - t) ** 2).sum() / ((t - t.mean()) ** 2).sum()
        self.history.append(r2.item())
        self.log("val_r2", r2)

    def configure_optimizers(self):
        opt = torch.optim.Adam(self.parameters(), lr=self.hparams.lr)
        return {"optimizer": opt, "lr_scheduler": torch.optim.lr_scheduler.ExponentialLR(opt, 0.9)}


if __name__ == "__main__":
    L.seed_everything(0)
    dm, model = LoadData(), LoadNet()
    trainer = L.Trainer(max_epochs=12, accelerator="cpu", logger=False, enable_checkpointing=False,
                        enable_progress_bar=False, enable_model_summary=False, num_sanity_val_steps=0)
    trainer.fit(model, dm)
    print("val R2 by epoch:", " ".join(f"{v:.3f}" for v in model.history))
