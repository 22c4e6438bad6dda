import lightning as L
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset

L.seed_everything(11, verbose=False)


def simulate_windows(n, steps=40, seed=0):
    """Accelerometer windows of three walkers; the stride frequency tells them apart, the phase is random."""
    g = np.random.default_rng(seed)
    who = g.integers(0, 3, n)
    freq = np.array([0.9, 1.3, 1.8])[who] + g.normal(0, 0.08, n)
    phase = g.uniform(0, 2 * np.pi, n)
    t = np.linspace(0, 4, steps)
    base = 2 * np.pi * freq[:, None] * t[None] + phase[:, None]
    x = np.stack([np.sin(base), np.cos(base), 0.5 * np.sin(2 * base)], -1)
    x += g.normal(0, 0.3, x.shape)
    return torch.tensor(x, dtype=torch.float32), torch.tensor(who)


class GaitData(L.LightningDataModule):
    def __init__(self, batch_size=50):
        super().__init__()
        self.batch_size = batch_size

    def setup(self, stage=None):
        self.train_ds = TensorDataset(*simulate_windows(2000, seed=1))
        self.val_ds = TensorDataset(*simulate_windows(500, seed=2))

    def train_dataloader(self):
        return DataLoader(self.train_ds, batch_size=self.batch_size, shuffle=True)

    def val_dataloader(self):
        return DataLoader(self.val_ds, batch_size=self.batch_size)


class GaitNet(L.LightningModule):
    def __init__(self, hidden=48, lr=3e-3):
        super().__init__()
        self.save_hyperparameters()
        self.encoder = nn.GRU(input_size=3, hidden_size=hidden, num_layers=1)
        self.head = nn.Linear(hidden, 3)

    def forward(self, x):
        # x: (batch, steps, channels)
        out, _ = self.encoder(x)
        return self.head(out[:, -1])

    def training_step(self, batch, batch_idx):
        x, y = batch
        loss = F.cross_entropy(self(x), y)
        self.log("train_loss", loss, on_step=False, on_epoch=True)
        return loss

    def validation_step(self, batch, batch_idx):
        x, y = batch
        logits = self(x)
        self.log("val_loss", F.cross_entropy(logits, y))
        self.log("val_acc", (logits.argmax(1) == y).float().mean())

    def on_validation_epoch_end(self):
        if self.trainer.sanity_checking:
            return
        m = self.trainer.callback_metrics
        print(f"epoch {self.current_epoch}: val_loss {m['val_loss']:.4f} val_acc {m['val_acc']:.3f}")

    def configure_optimizers(self):
        return torch.optim.Adam(self.parameters(), lr=self.hparams.lr)


if __name__ == "__main__":
    trainer = L.Trainer(
        max_epochs=12,
        accelerator="cpu",
        gradient_clip_val=1.0,
        logger=False,
        enable_checkpointing=False,
        enable_progress_bar=False,
        enable_model_summary=False,
    )
    trainer.fit(GaitNet(), datamodule=GaitData())
