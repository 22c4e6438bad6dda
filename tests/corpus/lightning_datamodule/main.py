# the older name of the package, a data module, arguments from the command line
import logging
import warnings
from argparse import ArgumentParser

import pytorch_lightning as pl
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset, random_split

warnings.filterwarnings("ignore")
logging.getLogger("pytorch_lightning").setLevel(logging.ERROR)


class Houses(pl.LightningDataModule):
    def __init__(self, batch_size=16, val_fraction=0.25):
        super().__init__()
        self.batch_size = batch_size
        self.val_fraction = val_fraction

    def setup(self, stage=None):
        x = torch.rand(160, 4)
        y = (3 * x[:, :1] - x[:, 1:2] * x[:, 2:3]) + 0.05 * torch.randn(160, 1)
        held = int(160 * self.val_fraction)
        self.train_set, self.val_set = random_split(TensorDataset(x, y), [160 - held, held])

    def train_dataloader(self):
        return DataLoader(self.train_set, batch_size=self.batch_size, shuffle=True)

    def val_dataloader(self):
        return DataLoader(self.val_set, batch_size=self.batch_size)


class Price(pl.LightningModule):
    def __init__(self, lr):
        super().__init__()
        self.lr = lr
        self.net = nn.Sequential(
            nn.Linear(4, 32),
            nn.BatchNorm1d(32),
            nn.Hardswish(),
            nn.Linear(32, 1),
        )
        self.loss = nn.MSELoss()

    def training_step(self, batch, batch_idx):
        x, y = batch
        return self.loss(self.net(x), y)

    def validation_step(self, batch, batch_idx):
        x, y = batch
        self.log("val_mse", self.loss(self.net(x), y), prog_bar=True)

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=self.lr, momentum=0.9)


if __name__ == "__main__":
    parser = ArgumentParser()
    parser.add_argument("--lr", default=0.03, type=float)
    parser.add_argument("--max_epochs", default=100, type=int)
    args = parser.parse_args()

    pl.seed_everything(4)
    trainer = pl.Trainer(
        max_epochs=args.max_epochs, accelerator="cpu", logger=False, enable_checkpointing=False,
        enable_progress_bar=False, enable_model_summary=False,
    )
    trainer.fit(Price(args.lr), datamodule=Houses(batch_size=20))
    print("val_mse=%.5f" % trainer.callback_metrics["val_mse"])
