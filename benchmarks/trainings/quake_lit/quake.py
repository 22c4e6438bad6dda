"""Earthquake or quarry blast from a short seismogram. Lightning, one-cycle schedule per step."""
import logging
import warnings

import lightning as L
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset

warnings.filterwarnings("ignore")
logging.getLogger("lightning.pytorch").setLevel(logging.ERROR)

LENGTH = 64


def seismograms(n, seed):
    rng = np.random.default_rng(seed)
    t = np.arange(LENGTH)
    label = rng.integers(0, 2, n)
    onset = rng.integers(5, 20, n)[:, None]
    gap = rng.integers(12, 22, n)[:, None]
    envelope_p = np.where(t >= onset, np.exp(-(t - onset) / 6.0), 0)
    envelope_s = np.where(t >= onset + gap, np.exp(-(t - onset - gap) / 9.0), 0)
    ratio = np.where(label, 0.5, 1.6)[:, None] * rng.uniform(0.7, 1.3, (n, 1))
    x = envelope_p * np.sin(1.6 * t) + ratio * envelope_s * np.sin(0.9 * t + rng.uniform(0, 6, (n, 1)))
    x += rng.normal(0, 0.2, x.shape)
    return torch.tensor(x[:, None], dtype=torch.float32), torch.tensor(label)


class QuakeNet(L.LightningModule):
    def __init__(self, max_lr=0.1):
        super().__init__()
        self.save_hyperparameters()
        self.conv1 = nn.Conv1d(1, 8, 9, stride=2, padding=4)
        self.bn1 = nn.BatchNorm1d(8)
        self.conv2 = nn.Conv1d(8, 16, 5, stride=2, padding=2)
        self.bn2 = nn.BatchNorm1d(16)
        self.fc = nn.Linear(16 * 16, 2)

    def forward(self, x):
        x = F.relu(self.bn1(self.conv1(x)))
        x = F.relu(self.bn2(self.conv2(x)))
        return self.fc(x.flatten(1))

    def training_step(self, batch, _):
        x, y = batch
        loss = F.cross_entropy(self(x), y)
        self.log("train_loss", loss, on_step=False, on_epoch=True)
        return loss

    def validation_step(self, batch, _):
        x, y = batch
        logits = self(x)
        self.log("val_loss", F.cross_entropy(logits, y))
        self.log("val_acc", (logits.argmax(1) == y).float().mean())

    def on_validation_epoch_end(self):
        m = self.trainer.callback_metrics
        print(f"epoch {self.current_epoch:2d} val_loss {m['val_loss'].item():.4f} val_acc {m['val_acc'].item():.4f}")

    def configure_optimizers(self):
        opt = torch.optim.SGD(self.parameters(), lr=self.hparams.max_lr, momentum=0.9, nesterov=True, weight_decay=5e-4)
        total = self.trainer.estimated_stepping_batches
        one_cycle = torch.optim.lr_scheduler.OneCycleLR(opt, max_lr=self.hparams.max_lr, total_steps=int(total))
        return {"optimizer": opt, "lr_scheduler": {"scheduler": one_cycle, "interval": "step"}}


def main():
    L.seed_everything(23, verbose=False)
    train = DataLoader(TensorDataset(*seismograms(2000, 0)), batch_size=64, shuffle=True)
    val = DataLoader(TensorDataset(*seismograms(600, 1)), batch_size=300)
    trainer = L.Trainer(
        max_epochs=10, accelerator="cpu", logger=False, enable_checkpointing=False,
        enable_progress_bar=False, enable_model_summary=False, num_sanity_val_steps=0,
    )
    trainer.fit(QuakeNet(), train, val)
    print(f"train_loss {trainer.callback_metrics['train_loss'].item():.4f}")


if __name__ == "__main__":
    main()
