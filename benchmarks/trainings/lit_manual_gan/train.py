"""Lightning with manual optimization: an adversarial generator for a ring of Gaussians, two optimizers, R1 penalty,
no sigmoid and a relativistic loss; the score is how close samples come to the real modes."""
import logging
import math
import warnings

import pytorch_lightning as pl
import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

warnings.filterwarnings("ignore")
logging.getLogger("pytorch_lightning").setLevel(logging.ERROR)
MODES = 6
ANGLES = torch.arange(MODES) * 2 * math.pi / MODES
CENTRES = torch.stack([ANGLES.cos(), ANGLES.sin()], 1)


def ring(n):
    return CENTRES[torch.randint(MODES, (n,))] + 0.07 * torch.randn(n, 2)


def mlp(i, o, h=64):
    return nn.Sequential(nn.Linear(i, h), nn.LeakyReLU(0.2), nn.Linear(h, h), nn.LeakyReLU(0.2), nn.Linear(h, o))


class RingGan(pl.LightningModule):
    automatic_optimization = False

    def __init__(self, z=4, r1=0.1):
        super().__init__()
        self.save_hyperparameters()
        self.g, self.d = mlp(z, 2), mlp(2, 1)
        self.register_buffer("probe", torch.randn(1500, z))

    def toggle(self, module, on):
        for p in module.parameters():
            p.requires_grad_(on)

    def training_step(self, batch, _):
        (real,) = batch
        opt_g, opt_d = self.optimizers()
        fake = self.g(torch.randn(len(real), self.hparams.z))

        real_in = real.detach().requires_grad_(True)
        score_real, score_fake = self.d(real_in), self.d(fake.detach())
        (slope,) = torch.autograd.grad(score_real.sum(), real_in, create_graph=True)
        loss_d = F.softplus(score_fake - score_real).mean() + 0.5 * self.hparams.r1 * slope.pow(2).sum(1).mean()
        opt_d.zero_grad()
        self.manual_backward(loss_d)
        opt_d.step()

        self.toggle(self.d, False)
        loss_g = F.softplus(self.d(real) - self.d(fake)).mean()
        opt_g.zero_grad()
        self.manual_backward(loss_g)
        opt_g.step()
        self.toggle(self.d, True)
        self.log_dict({"loss_d": loss_d.detach(), "loss_g": loss_g.detach()}, on_step=False, on_epoch=True)

    def on_train_epoch_end(self):
        for s in self.lr_schedulers():
            s.step()
        if self.current_epoch % 3 != 2:
            return
        with torch.no_grad():
            dist = torch.cdist(self.g(self.probe), CENTRES)
        near, which = dist.min(1)
        good = near < 0.25
        covered = torch.bincount(which[good], minlength=MODES) > 1500 / MODES * 0.2
        m = self.trainer.callback_metrics
        print(f"epoch {self.current_epoch + 1:2d} loss_d {m['loss_d']:.3f} loss_g {m['loss_g']:.3f} "
              f"samples on a mode {good.float().mean():.3f} modes covered {int(covered.sum())}/{MODES}")

    def configure_optimizers(self):
        g = torch.optim.Adam(self.g.parameters(), lr=2e-3, betas=(0.0, 0.99))
        d = torch.optim.Adam(self.d.parameters(), lr=2e-3, betas=(0.0, 0.99))
        return [g, d], [torch.optim.lr_scheduler.ExponentialLR(o, 0.93) for o in (g, d)]


if __name__ == "__main__":
    pl.seed_everything(17, verbose=False)
    loader = DataLoader(TensorDataset(ring(6000)), batch_size=100, shuffle=True)
    noise = torch.randn(1500, 2) * 0.75
    base = (torch.cdist(noise, CENTRES).min(1).values < 0.25).float().mean()
    print(f"baseline: a fitted Gaussian puts {base:.3f} of its samples on a mode")
    trainer = pl.Trainer(max_epochs=24, accelerator="cpu", logger=False, enable_checkpointing=False,
                         enable_progress_bar=False, enable_model_summary=False)
    trainer.fit(RingGan(), loader)
