"""Lightning module with an exponential moving average of the weights."""

import copy
import logging
import warnings

import lightning as L
import torch
import torch.nn as nn
import torch.nn.functional as F
from sklearn.datasets import make_classification
from torch.utils.data import DataLoader, TensorDataset

warnings.filterwarnings("ignore")
logging.getLogger("lightning.pytorch").setLevel(logging.ERROR)


class EMA:
    def __init__(self, model, decay=0.98):
        self.decay = decay
        self.shadow = copy.deepcopy(model).eval()
        for p in self.shadow.parameters():
            p.requires_grad_(False)

    @torch.no_grad()
    def update(self, model):
        for s, p in zip(self.shadow.parameters(), model.parameters()):
            s.lerp_(p, 1 - self.decay)


def make_net(n_in=20, n_out=3, width=64):
    return nn.Sequential(
        nn.Linear(n_in, width), nn.LayerNorm(width), nn.SiLU(),
        nn.Linear(width, width), nn.LayerNorm(width), nn.SiLU(),
        nn.Linear(width, n_out),
    )


class LitEMA(L.LightningModule):
    def __init__(self, max_lr, total_steps):
        super().__init__()
        self.net = make_net()
        self.ema = EMA(self.net)
        self.max_lr, self.total_steps = max_lr, total_steps

    def training_step(self, batch, batch_idx):
        x, y = batch
        loss = F.cross_entropy(self.net(x), y)
        self.log("loss", loss, on_step=False, on_epoch=True)
        return loss

    def on_train_batch_end(self, outputs, batch, batch_idx):
        self.ema.update(self.net)

    def validation_step(self, batch, batch_idx):
        x, y = batch
        for name, net in (("raw", self.net), ("ema", self.ema.shadow)):
            self.log(f"acc_{name}", (net(x).argmax(1) == y).float().mean(), on_epoch=True)

    def on_train_epoch_end(self):
        m = self.trainer.callback_metrics
        print(f"epoch {self.current_epoch} raw {m['acc_raw']:.3f} ema {m['acc_ema']:.3f}")

    def configure_optimizers(self):
        decay = [p for p in self.net.parameters() if p.ndim > 1]
        rest = [p for p in self.net.parameters() if p.ndim <= 1]
        optimizer = torch.optim.AdamW(
            [{"params": decay, "weight_decay": 0.02}, {"params": rest, "weight_decay": 0.0}], lr=self.max_lr
        )
        scheduler = torch.optim.lr_scheduler.OneCycleLR(optimizer, self.max_lr, total_steps=self.total_steps)
        return [optimizer], [{"scheduler": scheduler, "interval": "step"}]


def main():
    L.seed_everything(11, verbose=False)
    x, y = make_classification(
        3000, n_features=20, n_informative=10, n_classes=3, class_sep=1.8, n_clusters_per_class=2, random_state=11
    )
    x = torch.tensor((x - x.mean(0)) / x.std(0), dtype=torch.float32)
    y = torch.tensor(y)
    train = DataLoader(TensorDataset(x[:2400], y[:2400]), batch_size=64, shuffle=True)
    val = DataLoader(TensorDataset(x[2400:], y[2400:]), batch_size=200)
    epochs = 10
    trainer = L.Trainer(
        max_epochs=epochs, accelerator="cpu", logger=False, enable_checkpointing=False,
        enable_progress_bar=False, enable_model_summary=False,
    )
    trainer.fit(LitEMA(max_lr=4e-3, total_steps=epochs * len(train)), train, val)


if __name__ == "__main__":
    main()
