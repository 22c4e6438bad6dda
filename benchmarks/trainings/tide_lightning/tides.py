"""Probabilistic tide forecast with Lightning in manual optimization: a mean network and a variance network, each with
its own optimizer; Gaussian negative log-likelihood (which is below zero once the fit is good), variance floored."""
import logging
import math
import warnings

import lightning as L
import numpy as np
import torch
from lightning.pytorch.callbacks import EarlyStopping
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

warnings.filterwarnings("ignore")
for name in ("lightning.pytorch", "lightning.fabric"):
    logging.getLogger(name).setLevel(logging.ERROR)

WINDOW = 36


def tide_gauge(hours, rng):
    t = np.arange(hours)
    moon = 0.3 * np.sin(2 * np.pi * t / 12.42) + 0.12 * np.sin(2 * np.pi * t / 24.84 + 1)
    spring = 1 + 0.4 * np.sin(2 * np.pi * t / (24 * 14.77))
    rough = 0.01 + 0.03 * (np.sin(2 * np.pi * t / 200) > 0.6)
    return (moon * spring + rough * rng.normal(size=hours)).astype(np.float32)


def windows(series):
    w = np.lib.stride_tricks.sliding_window_view(series, WINDOW + 1)
    return TensorDataset(torch.from_numpy(w[:, :-1].copy()), torch.from_numpy(w[:, -1:].copy()))


class TideModel(L.LightningModule):
    def __init__(self, hidden=48):
        super().__init__()
        self.automatic_optimization = False
        self.mean = nn.Sequential(nn.Linear(WINDOW, hidden), nn.Tanh(), nn.Linear(hidden, 1))
        self.spread = nn.Sequential(nn.Linear(WINDOW, hidden), nn.Tanh(), nn.Linear(hidden, 1))
        nn.init.constant_(self.spread[-1].bias, -1.5)

    def forward(self, x):
        level = x[:, -1:]
        mean = level + self.mean((x - x.mean(1, keepdim=True)) * 3)
        var = nn.functional.softplus(self.spread((x - level) * 3)).square() + 1e-4
        return mean, var

    def nll(self, batch):
        x, y = batch
        mean, var = self(x)
        return nn.functional.gaussian_nll_loss(mean, y, var, full=True), mean, y

    def training_step(self, batch, _):
        opt_mean, opt_spread = self.optimizers()
        loss, mean, y = self.nll(batch)
        # the first epoch fits the mean alone
        objective = nn.functional.mse_loss(mean, y) if self.current_epoch == 0 else loss
        opt_mean.zero_grad()
        opt_spread.zero_grad()
        self.manual_backward(objective)
        self.clip_gradients(opt_mean, gradient_clip_val=1.0, gradient_clip_algorithm="norm")
        opt_mean.step()
        if self.current_epoch > 0:
            opt_spread.step()
        self.log("train_nll", loss, on_epoch=True, on_step=False)

    def on_train_epoch_end(self):
        for s in self.lr_schedulers():
            s.step()

    def validation_step(self, batch, _):
        loss, mean, y = self.nll(batch)
        self.log("val_nll", loss)
        self.log("val_mae", (mean - y).abs().mean())

    def on_validation_epoch_end(self):
        m = self.trainer.callback_metrics
        if not self.trainer.sanity_checking:
            print(f"epoch {self.current_epoch}: val nll {m['val_nll']:+.4f} val MAE {m['val_mae']:.4f} m")

    def configure_optimizers(self):
        a = torch.optim.AdamW(self.mean.parameters(), lr=3e-3)
        b = torch.optim.Adam(self.spread.parameters(), lr=2e-3)
        return [a, b], [torch.optim.lr_scheduler.ExponentialLR(o, 0.9) for o in (a, b)]


def main():
    L.seed_everything(14, verbose=False)
    series = tide_gauge(6000, np.random.default_rng(14))
    train, val = windows(series[:5000]), windows(series[5000:])
    x, y = val.tensors
    print(f"persistence MAE {(x[:, -1:] - y).abs().mean():.4f} m, "
          f"constant Gaussian nll {0.5 * math.log(2 * math.pi * math.e * y.var().item()):+.4f}")
    trainer = L.Trainer(max_epochs=12, accelerator="cpu", logger=False, enable_checkpointing=False,
                        enable_progress_bar=False, enable_model_summary=False,
                        callbacks=[EarlyStopping("val_nll", patience=5)])
    trainer.fit(TideModel(), DataLoader(train, 64, shuffle=True), DataLoader(val, 500))


if __name__ == "__main__":
    main()
