"""Encoder-decoder GRU for the next 24 hours of household demand (PyTorch Lightning)."""
import logging
import sys
import warnings

import lightning as L
import numpy as np
import torch
import torch.nn.functional as F
import yaml
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

warnings.filterwarnings("ignore")
logging.getLogger("lightning.pytorch").setLevel(logging.ERROR)

CONFIG = yaml.safe_load("""
seed: 0
households: 8
days: 200
val_days: 40
past_hours: 48
hidden: 40
teacher_forcing: 0.6
batch_size: 64
epochs: 4
lr: 0.006
""")


def calendar_features(n_hours):
    hour = np.arange(n_hours)
    hod, dow = hour % 24, (hour // 24) % 7
    return np.stack([np.sin(2 * np.pi * hod / 24), np.cos(2 * np.pi * hod / 24),
                     np.sin(4 * np.pi * hod / 24), np.cos(4 * np.pi * hod / 24),
                     (dow >= 5).astype(float), (dow == 4).astype(float)], axis=1).astype("float32")


def simulate_household(n_days, rng):
    """Routine profile, plus slow swings in occupancy that last from hours to a day."""
    n = n_days * 24
    hour = np.arange(n)
    hod, weekend = hour % 24, (hour // 24) % 7 >= 5
    morning, evening = rng.normal(7.2, 0.6), rng.normal(19.2, 0.7)
    work = 0.7 * np.exp(-0.5 * ((hod - morning) / 1.1) ** 2) + 1.3 * np.exp(-0.5 * ((hod - evening) / 2.0) ** 2)
    home = 0.9 * np.exp(-0.5 * ((hod - 11.5) / 3.0) ** 2) + 1.1 * np.exp(-0.5 * ((hod - evening) / 2.4) ** 2)
    swing = np.zeros(n)
    shocks = rng.standard_normal(n)
    for t in range(1, n):
        swing[t] = 0.94 * swing[t - 1] + 0.17 * shocks[t]
    load = (0.3 + np.where(weekend, home, work)) * np.exp(swing) * rng.lognormal(0, 0.05, n)
    return rng.lognormal(-0.2, 0.4) * load


class MeterData(L.LightningDataModule):
    def __init__(self, cfg):
        super().__init__()
        self.cfg = cfg

    def setup(self, stage=None):
        cfg = self.cfg
        rng = np.random.default_rng(cfg["seed"])
        cal = calendar_features(cfg["days"] * 24)
        split = (cfg["days"] - cfg["val_days"]) * 24
        train, val = [], []
        for _ in range(cfg["households"]):
            kwh = np.log(simulate_household(cfg["days"], rng))
            kwh = ((kwh - kwh[:split].mean()) / kwh[:split].std()).astype("float32")
            past = cfg["past_hours"]
            for issue in range(past, split - 23, 12):
                train.append(self.sample(kwh, cal, issue))
            for issue in range(split, len(kwh) - 23, 24):
                val.append(self.sample(kwh, cal, issue))
        self.train, self.val = (TensorDataset(*map(torch.from_numpy, map(np.stack, zip(*s)))) for s in (train, val))

    def sample(self, load, cal, issue):
        past = slice(issue - self.cfg["past_hours"], issue)
        ahead = slice(issue, issue + 24)
        return np.column_stack([load[past], cal[past]]), cal[ahead], load[ahead]

    def train_dataloader(self):
        return DataLoader(self.train, batch_size=self.cfg["batch_size"], shuffle=True)

    def val_dataloader(self):
        return DataLoader(self.val, batch_size=512)


class DemandSeq2Seq(L.LightningModule):
    def __init__(self, cfg, n_cal=6):
        super().__init__()
        self.cfg = cfg
        self.encoder = nn.GRU(1 + n_cal, cfg["hidden"], batch_first=True)
        self.cell = nn.GRUCell(1 + n_cal, cfg["hidden"])
        self.readout = nn.Linear(cfg["hidden"] + n_cal, 1)

    def forward(self, past, cal_ahead, target=None):
        state = self.encoder(past)[1][0]
        previous = past[:, -1, 0]
        outputs = []
        for step in range(cal_ahead.shape[1]):
            cal = cal_ahead[:, step]
            state = self.cell(torch.cat([previous.unsqueeze(1), cal], dim=1), state)
            estimate = self.readout(torch.cat([state, cal], dim=1)).squeeze(1)
            outputs.append(estimate)
            if target is not None:
                keep = torch.rand_like(estimate) < self.cfg["teacher_forcing"]
                previous = torch.where(keep, target[:, step], estimate)
            else:
                previous = estimate
        return torch.stack(outputs, dim=1)

    def training_step(self, batch, _):
        past, cal_ahead, target = batch
        loss = F.mse_loss(self(past, cal_ahead, target), target)
        self.log("train_mse", loss, on_step=False, on_epoch=True)
        return loss

    def validation_step(self, batch, _):
        past, cal_ahead, target = batch
        forecast = self(past, cal_ahead, target)
        error = (forecast - target).abs()
        self.log("val_mae", error.mean())
        self.log("val_mae_first6", error[:, :6].mean())
        self.log("val_mae_last6", error[:, -6:].mean())
        self.log("yesterday_mae", (past[:, -24:, 0] - target).abs().mean())

    def on_train_epoch_end(self):
        m = {k: float(v) for k, v in self.trainer.callback_metrics.items()}
        print(f"epoch {self.current_epoch + 1}: train mse {m['train_mse']:.3f} | val MAE {m['val_mae']:.3f} "
              f"(hours 1-6 {m['val_mae_first6']:.3f}, hours 19-24 {m['val_mae_last6']:.3f}) | "
              f"copy of yesterday {m['yesterday_mae']:.3f}")

    def configure_optimizers(self):
        return torch.optim.Adam(self.parameters(), lr=self.cfg["lr"])


def main():
    cfg = dict(CONFIG)
    if len(sys.argv) > 1:
        cfg["seed"] = int(sys.argv[1])
    torch.set_num_threads(1)
    L.seed_everything(cfg["seed"], verbose=False)
    data = MeterData(cfg)
    model = DemandSeq2Seq(cfg)
    trainer = L.Trainer(max_epochs=cfg["epochs"], accelerator="cpu", logger=False, enable_checkpointing=False,
                        enable_progress_bar=False, enable_model_summary=False, gradient_clip_val=1.0,
                        num_sanity_val_steps=0)
    trainer.fit(model, data)
    result = trainer.validate(model, data, verbose=False)[0]
    print(f"day-ahead forecast, seed {cfg['seed']}: MAE {result['val_mae']:.3f} in units of household std "
          f"(copy of yesterday {result['yesterday_mae']:.3f})")


if __name__ == "__main__":
    main()
