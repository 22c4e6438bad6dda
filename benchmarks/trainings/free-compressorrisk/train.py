"""Probability that a screw compressor fails within the warranty horizon, learned from censored service records."""
import logging
import sys
import warnings
from pathlib import Path

import lightning as L
import numpy as np
import torch
import torch.nn.functional as F
import yaml
from sklearn.metrics import brier_score_loss, roc_auc_score
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

warnings.filterwarnings("ignore")
logging.getLogger("lightning.pytorch").setLevel(logging.ERROR)
OPTIONS = yaml.safe_load((Path(__file__).parent / "options.yaml").read_text())


def draw_compressors(n, rng):
    load = rng.beta(3, 2, n)
    ambient = rng.normal(24, 7, n)
    starts = rng.gamma(2.0, 3.0, n)
    filter_dp = rng.lognormal(-0.5, 0.4, n)
    oil_age = rng.uniform(0, 8, n)
    vendor = rng.integers(0, 3, n)
    log_scale = (6.7 - 1.1 * (load - 0.6) - 0.02 * (ambient - 24) - 0.05 * (starts - 6)
                 - 0.5 * filter_dp * (oil_age > 4) + 0.25 * (vendor == 2))
    life = np.exp(log_scale) * rng.weibull(1.4, n)
    x = np.column_stack([load, ambient, starts, filter_dp, oil_age, np.eye(3)[vendor]])
    return x.astype(np.float32), life


class CensoringCurve:
    """Kaplan-Meier estimate of the probability of still being under observation."""

    def __init__(self, days, failed):
        order = np.argsort(days, kind="stable")
        t, left = days[order], ~failed[order]
        at_risk = len(t) - np.arange(len(t))
        self.t = t
        self.g = np.cumprod(1.0 - left / at_risk)

    def __call__(self, days):
        """Value just before each day."""
        position = np.searchsorted(self.t, days, side="left")
        return np.concatenate([[1.0], self.g])[position].clip(min=0.02)


def label_within(days, failed, horizon, curve):
    """Failure label at the horizon with the inverse-probability-of-censoring weight of each machine."""
    label = (days <= horizon) & failed
    known = label | (days > horizon)
    weight = known / curve(days)
    return label.astype(np.float32), weight.astype(np.float32)


class ServiceRecords(L.LightningDataModule):
    def __init__(self, opt, seed):
        super().__init__()
        self.opt = opt
        self.rng = np.random.default_rng(seed)

    def setup(self, stage=None):
        if hasattr(self, "train_set"):
            return
        opt, rng = self.opt, self.rng
        x, life = draw_compressors(opt["machines"], rng)
        followed = rng.gamma(1.6, 420.0, len(x))
        days, failed = np.minimum(life, followed), life <= followed
        n_fit = int(0.8 * len(x))
        curve = CensoringCurve(days[:n_fit], failed[:n_fit])
        label, weight = label_within(days, failed, opt["horizon_days"], curve)
        self.mean, self.std = x[:n_fit].mean(axis=0), x[:n_fit].std(axis=0)
        self.train_set = self.pack(x[:n_fit], label[:n_fit], weight[:n_fit])
        self.valid_set = self.pack(x[n_fit:], label[n_fit:], weight[n_fit:])
        self.summary = (len(x), failed.mean(), (weight > 0).mean())

        x, life = draw_compressors(opt["closed_cohort"], rng)
        self.closed_x = torch.from_numpy((x - self.mean) / self.std)
        self.closed_label = (life <= opt["horizon_days"]).astype(int)

    def pack(self, x, label, weight):
        known = weight > 0
        columns = ((x - self.mean) / self.std)[known], label[known], weight[known]
        return TensorDataset(*(torch.from_numpy(c) for c in columns))

    def train_dataloader(self):
        return DataLoader(self.train_set, batch_size=self.opt["batch_size"], shuffle=True)

    def val_dataloader(self):
        return DataLoader(self.valid_set, batch_size=1024)


class FailureClassifier(L.LightningModule):
    def __init__(self, n_in, opt):
        super().__init__()
        self.opt = opt
        self.net = nn.Sequential(nn.Linear(n_in, opt["width"]), nn.GELU(), nn.Dropout(opt["dropout"]),
                                 nn.Linear(opt["width"], opt["width"]), nn.GELU(), nn.Linear(opt["width"], 1))
        self.curve = []

    def forward(self, x):
        return self.net(x).squeeze(-1)

    def weighted_nll(self, batch):
        x, label, weight = batch
        nll = F.binary_cross_entropy_with_logits(self(x), label, reduction="none")
        return (weight * nll).sum() / weight.sum()

    def training_step(self, batch, _):
        return self.weighted_nll(batch)

    def validation_step(self, batch, _):
        self.log("valid_nll", self.weighted_nll(batch), batch_size=len(batch[0]))

    def on_validation_epoch_end(self):
        self.curve.append(float(self.trainer.callback_metrics.get("valid_nll", float("nan"))))

    def configure_optimizers(self):
        optimizer = torch.optim.AdamW(self.parameters(), lr=self.opt["lr"], weight_decay=1e-3)
        schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, self.opt["epochs"])
        return [optimizer], [schedule]


def main(seed):
    L.seed_everything(seed, verbose=False)
    records = ServiceRecords(OPTIONS, seed)
    records.setup()
    n, failed, known = records.summary
    print(f"{n} compressors, {failed:.0%} failed in follow-up, outcome at {OPTIONS['horizon_days']} d known for {known:.0%}")

    model = FailureClassifier(records.closed_x.shape[1], OPTIONS)
    trainer = L.Trainer(max_epochs=OPTIONS["epochs"], accelerator="cpu", logger=False, enable_checkpointing=False,
                        enable_progress_bar=False, enable_model_summary=False, num_sanity_val_steps=0)
    trainer.fit(model, datamodule=records)
    print("valid nll " + " ".join(f"{v:.3f}" for v in model.curve if v == v))

    model.eval()
    with torch.no_grad():
        risk = torch.sigmoid(model(records.closed_x)).numpy()
    observed = records.closed_label
    print(f"closed cohort: auc {roc_auc_score(observed, risk):.4f}  brier {brier_score_loss(observed, risk):.4f}")
    print(f"mean predicted risk {risk.mean():.3f}, failed {observed.mean():.3f}")
    edges = np.quantile(risk, [0.25, 0.5, 0.75])
    for quarter in range(4):
        rows = np.digitize(risk, edges) == quarter
        print(f"  quarter {quarter + 1}: predicted {risk[rows].mean():.3f}  failed {observed[rows].mean():.3f}")
    alert = risk > OPTIONS["alert_level"]
    print(f"alerts {alert.mean():.0%} of machines, catching {observed[alert].sum() / observed.sum():.0%} of failures")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 0)
