"""Four-arm spiral classification with Lightning."""
import math
import warnings
import logging

import lightning as L
import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

warnings.filterwarnings("ignore")
logging.getLogger("lightning.pytorch").setLevel(logging.ERROR)


class SpiralData(L.LightningDataModule):
    def __init__(self, n=4000, arms=4, batch_size=40):
        super().__init__()
        self.n, self.arms, self.batch_size = n, arms, batch_size

    def setup(self, stage=None):
        if hasattr(self, "train_set"):
            return
        g = torch.Generator().manual_seed(77)
        y = torch.randint(0, self.arms, (self.n,), generator=g)
        r = torch.rand(self.n, generator=g).sqrt()
        angle = r * 5.0 + y * (2 * math.pi / self.arms) + 0.16 * torch.randn(self.n, generator=g)
        x = torch.stack([r * angle.cos(), r * angle.sin()], 1)
        k = int(self.n * 0.8)
        self.train_set = TensorDataset(x[:k], y[:k])
        self.val_set = TensorDataset(x[k:], y[k:])

    def train_dataloader(self):
        return DataLoader(self.train_set, batch_size=self.batch_size, shuffle=True)

    def val_dataloader(self):
        return DataLoader(self.val_set, batch_size=400)


class SpiralNet(L.LightningModule):
    def __init__(self, width=64, lr=0.05, arms=4):
        super().__init__()
        self.save_hyperparameters()
        self.net = nn.Sequential(
            nn.Linear(2, width), nn.Tanh(),
            nn.Linear(width, width), nn.Tanh(),
            nn.Linear(width, width), nn.Tanh(),
            nn.Linear(width, arms),
        )

    def forward(self, x):
        return self.net(x * 3.0)

    def training_step(self, batch, _):
        x, y = batch
        loss = F.cross_entropy(self(x), y)
        self.log("train_loss", loss, on_epoch=True, on_step=False)
        return loss

    def validation_step(self, batch, _):
        x, y = batch
        logits = self(x)
        self.log("val_loss", F.cross_entropy(logits, y))
        self.log("val_acc", (logits.argmax(-1) == y).float().mean())

    def configure_optimizers(self):
        opt = torch.optim.SGD(self.parameters(), lr=self.hparams.lr, momentum=0.9)
        sched = torch.optim.lr_scheduler.ExponentialLR(opt, gamma=0.93)
        return {
            "optimizer": opt,
            "lr_scheduler": {"scheduler": sched, "interval": "step", "name": "lr"},
        }


class PrintTable(L.Callback):
    def on_train_epoch_end(self, trainer, module):
        m = trainer.callback_metrics
        if (trainer.current_epoch + 1) % 2 == 0:
            print(
                f"epoch {trainer.current_epoch + 1:3d} "
                f"train_loss {m['train_loss']:.4f} val_loss {m['val_loss']:.4f} val_acc {m['val_acc']:.4f}"
            )


def main():
    L.seed_everything(77, verbose=False)
    trainer = L.Trainer(
        max_epochs=24,
        accelerator="cpu",
        devices=1,
        logger=False,
        enable_checkpointing=False,
        enable_progress_bar=False,
        enable_model_summary=False,
        callbacks=[PrintTable()],
        num_sanity_val_steps=0,
    )
    model, data = SpiralNet(), SpiralData()
    trainer.fit(model, datamodule=data)
    result = trainer.validate(model, datamodule=data, verbose=False)[0]
    print("validation:", {k: round(v, 4) for k, v in result.items()})


if __name__ == "__main__":
    main()
