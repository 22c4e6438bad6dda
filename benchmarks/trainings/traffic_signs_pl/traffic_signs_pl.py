"""Lightning module: classify noisy 12x12 'sign' glyphs into eight shapes."""
import logging
import warnings

import lightning as L
import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

warnings.filterwarnings("ignore")
logging.getLogger("lightning.pytorch").setLevel(logging.ERROR)


def glyph(k, rng):
    im = np.zeros((12, 12), np.float32)
    o = rng.integers(-1, 2, 2)
    a, b = 3 + o[0], 9 + o[0]
    c, d = 3 + o[1], 9 + o[1]
    if k == 0: im[a:b, c:d] = 1
    if k == 1: im[a:b, [c, d - 1]] = 1; im[[a, b - 1], c:d] = 1
    if k == 2: im[a:b, (c + d) // 2] = 1; im[(a + b) // 2, c:d] = 1
    if k == 3:
        for i in range(6): im[a + i, c + i] = 1; im[a + i, d - 1 - i] = 1
    if k == 4:
        for i in range(6): im[a + i, c:c + i + 1] = 1
    if k == 5: im[a:b:2, c:d] = 1
    if k == 6: im[a:b, c:d:2] = 1
    if k == 7:
        for i in range(6): im[a + i, c + i] = 1
        im[a:b, c] = 1
    return im + rng.normal(0, 0.4, im.shape)


def make(n, seed):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 8, n)
    x = np.stack([glyph(k, rng) for k in y]).astype(np.float32)
    return TensorDataset(torch.from_numpy(x)[:, None], torch.from_numpy(y))


class SignNet(L.LightningModule):
    def __init__(self, lr=0.05, decay_every=5, gamma=0.5):
        super().__init__()
        self.save_hyperparameters()
        self.net = nn.Sequential(
            nn.Conv2d(1, 12, 3), nn.ReLU(), nn.MaxPool2d(2),
            nn.Conv2d(12, 24, 3), nn.ReLU(), nn.Flatten(),
            nn.Linear(24 * 9, 48), nn.ReLU(), nn.Linear(48, 8),
        )
        self.loss = nn.CrossEntropyLoss()

    def forward(self, x):
        return self.net(x)

    def training_step(self, batch, batch_idx):
        x, y = batch
        loss = self.loss(self(x), y)
        self.log("train_loss", loss, on_epoch=True, on_step=False)
        return loss

    def validation_step(self, batch, batch_idx):
        x, y = batch
        logits = self(x)
        self.log("val_loss", self.loss(logits, y))
        self.log("val_acc", (logits.argmax(1) == y).float().mean())

    def configure_optimizers(self):
        opt = torch.optim.SGD(self.parameters(), lr=self.hparams.lr, momentum=0.9)
        # halve the rate every five epochs
        sched = torch.optim.lr_scheduler.StepLR(opt, self.hparams.decay_every, self.hparams.gamma)
        return {"optimizer": opt, "lr_scheduler": {"scheduler": sched, "interval": "step"}}

    def on_validation_epoch_end(self):
        m = self.trainer.callback_metrics
        if not self.trainer.sanity_checking:
            print(f"epoch {self.current_epoch} val_loss {m['val_loss']:.3f} val_acc {m['val_acc']:.3f}")


def main():
    L.seed_everything(9)
    train = DataLoader(make(2000, 0), batch_size=50, shuffle=True)
    val = DataLoader(make(600, 1), batch_size=200)
    trainer = L.Trainer(max_epochs=12, accelerator="cpu", logger=False, enable_checkpointing=False,
                        enable_progress_bar=False, enable_model_summary=False)
    trainer.fit(SignNet(), train, val)


if __name__ == "__main__":
    main()
