"""Spare-part demand (counts with many zeros). Lightning; the output is a rectified rate."""
import logging
import warnings

import lightning as L
import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

warnings.filterwarnings("ignore")
logging.getLogger("lightning.pytorch").setLevel(logging.ERROR)


def parts(n, seed):
    r = np.random.default_rng(seed)
    x = r.normal(size=(n, 6)).astype(np.float32)
    rate = np.maximum(0, 3 * x[:, 0] + 2 * x[:, 1] * (x[:, 2] > 0) + 1.5 * np.abs(x[:, 3]) - 1.0)
    y = r.poisson(rate).astype(np.float32)
    return TensorDataset(torch.from_numpy(x), torch.from_numpy(y))


class Demand(L.LightningModule):
    def __init__(self, lr=4e-3, accumulate=2):
        super().__init__()
        self.save_hyperparameters()
        self.automatic_optimization = False
        self.net = nn.Sequential(nn.Linear(6, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 1))
        nn.init.constant_(self.net[-1].bias, 1.0)      # start on the live side of the rectifier

    def forward(self, x):
        return torch.relu(self.net(x)).squeeze(-1)

    def training_step(self, batch, i):
        x, y = batch
        loss = nn.functional.smooth_l1_loss(self(x), y)
        self.manual_backward(loss / self.hparams.accumulate)
        if (i + 1) % self.hparams.accumulate == 0:
            opt = self.optimizers()
            self.clip_gradients(opt, gradient_clip_val=2.0, gradient_clip_algorithm="norm")
            opt.step()
            opt.zero_grad()
        return loss

    def on_train_epoch_end(self):
        self.lr_schedulers().step()

    def test_step(self, batch, i):
        x, y = batch
        p = self(x)
        r2 = 1 - ((p - y) ** 2).sum() / ((y - y.mean()) ** 2).sum()
        self.log_dict({"r2": r2, "mae": (p - y).abs().mean(), "constant_mae": (y - y.median()).abs().mean(),
                       "zero_share": (p == 0).float().mean()})

    def configure_optimizers(self):
        opt = torch.optim.NAdam(self.parameters(), lr=self.hparams.lr)
        return [opt], [torch.optim.lr_scheduler.MultiStepLR(opt, [6, 9], 0.3)]


def main():
    L.seed_everything(7)
    trainer = L.Trainer(max_epochs=10, accelerator="cpu", logger=False, enable_checkpointing=False,
                        enable_progress_bar=False, enable_model_summary=False)
    model = Demand()
    trainer.fit(model, DataLoader(parts(3000, 0), 50, shuffle=True))
    out = trainer.test(model, DataLoader(parts(1000, 1), 1000), verbose=False)[0]
    print({k: round(v, 3) for k, v in out.items()})


if __name__ == "__main__":
    main()
