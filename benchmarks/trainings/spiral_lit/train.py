import logging
import warnings

import lightning as L
import numpy as np
import torch
from torch import nn
from torch.nn import functional as F
from torch.utils.data import DataLoader, TensorDataset

logging.getLogger("lightning.pytorch").setLevel(logging.ERROR)
warnings.filterwarnings("ignore")


class SpiralData(L.LightningDataModule):
    """Three interleaved spiral arms in the plane."""

    def __init__(self, per_arm=700, arms=3, batch_size=50):
        super().__init__()
        self.per_arm, self.arms, self.batch_size = per_arm, arms, batch_size

    def setup(self, stage=None):
        g = np.random.default_rng(8)
        xs, ys = [], []
        for arm in range(self.arms):
            r = np.sqrt(g.uniform(0.03, 1, self.per_arm))
            phi = 4.5 * r + 2 * np.pi * arm / self.arms + g.normal(0, 0.12, self.per_arm)
            xs.append(np.stack([r * np.cos(phi), r * np.sin(phi)], 1))
            ys.append(np.full(self.per_arm, arm))
        x = torch.tensor(np.concatenate(xs), dtype=torch.float32)
        y = torch.tensor(np.concatenate(ys))
        perm = torch.from_numpy(g.permutation(len(y)))
        cut = int(0.8 * len(y))
        self.train_set = TensorDataset(x[perm[:cut]], y[perm[:cut]])
        self.val_set = TensorDataset(x[perm[cut:]], y[perm[cut:]])

    def train_dataloader(self):
        return DataLoader(self.train_set, batch_size=self.batch_size, shuffle=True)

    def val_dataloader(self):
        return DataLoader(self.val_set, batch_size=256)


class SpiralNet(L.LightningModule):
    def __init__(self, hidden=64, lr=5e-3):
        super().__init__()
        self.save_hyperparameters()
        self.net = nn.Sequential(
            nn.Linear(2, hidden), nn.SiLU(),
            nn.Linear(hidden, hidden), nn.SiLU(),
            nn.Linear(hidden, 3),
        )
        self.history = []

    def training_step(self, batch, _):
        x, y = batch
        loss = F.cross_entropy(self.net(x), y)
        self.log("train_loss", loss, on_step=False, on_epoch=True)
        return loss

    def validation_step(self, batch, _):
        x, y = batch
        logits = self.net(x)
        self.log("val_loss", F.cross_entropy(logits, y))
        self.log("val_acc", (logits.argmax(1) == y).float().mean())

    def on_train_epoch_end(self):
        m = self.trainer.callback_metrics
        print(f"epoch {self.current_epoch:2d}  train_loss {m['train_loss']:.4f}  "
              f"val_loss {m['val_loss']:.4f}  val_acc {m['val_acc']:.4f}")

    def configure_optimizers(self):
        optimizer = torch.optim.Adam(self.parameters(), lr=self.hparams.lr)
        scheduler = torch.optim.lr_scheduler.MultiStepLR(optimizer, milestones=[14, 20], gamma=0.1)
        return {
            "optimizer": optimizer,
            "lr_scheduler": {"scheduler": scheduler, "interval": "step", "frequency": 1},
        }


def main():
    L.seed_everything(8, verbose=False)
    trainer = L.Trainer(
        max_epochs=24,
        accelerator="cpu",
        logger=False,
        enable_checkpointing=False,
        enable_progress_bar=False,
        enable_model_summary=False,
    )
    model = SpiralNet()
    data = SpiralData()
    trainer.fit(model, datamodule=data)
    result = trainer.validate(model, datamodule=data, verbose=False)[0]
    print("final:", {k: round(v, 4) for k, v in result.items()})


if __name__ == "__main__":
    main()
