"""Distance a bee's waggle dance points to, as classes, from its acceleration: convolutions in a Lightning module."""

import math

import lightning as L
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset, random_split


def dances(n, length=60, classes=5):
    """The share of waggling in a circuit grows with the distance."""
    kind = torch.randint(0, classes, (n,))
    share = 0.2 + 0.12 * kind + 0.02 * torch.randn(n)
    t = torch.arange(length) / length
    phase = torch.rand(n, 1)
    waggling = ((t + phase) % 1.0 < share.unsqueeze(1)).float()
    shake = torch.sin(2 * math.pi * 13 * t + 6 * torch.rand(n, 1))
    turn = torch.cos(2 * math.pi * (t + phase))
    signal = torch.stack([waggling * shake, turn], dim=1) + 0.2 * torch.randn(n, 2, length)
    return signal, kind


class WaggleNet(L.LightningModule):
    def __init__(self, classes=5, lr=3e-3, gamma=0.85):
        super().__init__()
        self.save_hyperparameters()
        self.features = nn.Sequential(
            nn.Conv1d(2, 24, 7, padding=3),
            nn.ReLU(),
            nn.MaxPool1d(2),
            nn.Conv1d(24, 48, 5, padding=2),
            nn.ReLU(),
            nn.AdaptiveAvgPool1d(4),
            nn.Flatten(),
        )
        self.classifier = nn.Sequential(nn.Linear(192, 64), nn.ReLU(), nn.Linear(64, classes))
        self.criterion = nn.CrossEntropyLoss()

    def forward(self, x):
        return self.classifier(self.features(x))

    def training_step(self, batch, batch_idx):
        x, y = batch
        loss = self.criterion(self(x), y)
        self.log("train_loss", loss, on_step=False, on_epoch=True)
        self.log("lr", self.optimizers().param_groups[0]["lr"], on_step=False, on_epoch=True)
        return loss

    def validation_step(self, batch, batch_idx):
        x, y = batch
        out = self(x)
        self.log_dict({"val_loss": self.criterion(out, y), "val_acc": (out.argmax(1) == y).float().mean()})

    def on_validation_epoch_end(self):
        m = self.trainer.callback_metrics
        if "train_loss" in m or not self.trainer.sanity_checking:
            print(f"epoch {self.current_epoch} val_loss {m['val_loss']:.3f} val_acc {m['val_acc']:.3f}")

    def on_train_epoch_end(self):
        m = self.trainer.callback_metrics
        print(f"         train_loss {m['train_loss']:.3f} mean lr {m['lr']:.2e}")

    def configure_optimizers(self):
        optimizer = torch.optim.Adam(self.parameters(), lr=self.hparams.lr)
        scheduler = torch.optim.lr_scheduler.ExponentialLR(optimizer, gamma=self.hparams.gamma)
        return {"optimizer": optimizer, "lr_scheduler": {"scheduler": scheduler, "interval": "step"}}


if __name__ == "__main__":
    L.seed_everything(46, verbose=False)
    train, val = random_split(TensorDataset(*dances(2400)), [2000, 400])
    trainer = L.Trainer(
        max_epochs=10,
        accelerator="cpu",
        logger=False,
        enable_checkpointing=False,
        enable_progress_bar=False,
        enable_model_summary=False,
    )
    trainer.fit(WaggleNet(), DataLoader(train, 50, shuffle=True), DataLoader(val, 400))
