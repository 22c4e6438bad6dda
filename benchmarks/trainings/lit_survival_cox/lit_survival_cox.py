"""Survival of light bulbs: Cox partial likelihood in Lightning, one batch with all rows, OneCycle stepped each batch."""

import lightning as L
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


def bulbs(n):
    x = torch.randn(n, 6)
    risk = 0.9 * x[:, 0] - 0.7 * x[:, 1] + 0.6 * x[:, 2] * x[:, 3]
    life = -torch.log(torch.rand(n)) * torch.exp(-risk)
    watched = 0.5 + 2 * torch.rand(n)
    return x, torch.minimum(life, watched), (life <= watched).float(), risk


def cox_loss(score, time, burnt):
    """Only orders count: a row is compared with all that lived longer, so a batch must hold many rows."""
    order = time.argsort(descending=True)
    score, burnt = score[order], burnt[order]
    return -((score - score.logcumsumexp(0)) * burnt).sum() / burnt.sum()


def concordance(score, time, burnt):
    comparable = (time.unsqueeze(1) < time.unsqueeze(0)) & (burnt.unsqueeze(1) > 0)
    right = (score.unsqueeze(1) > score.unsqueeze(0)) & comparable
    return right.sum() / comparable.sum()


class Cox(L.LightningModule):
    def __init__(self, lr=2e-2, epochs=120):
        super().__init__()
        self.save_hyperparameters()
        self.net = nn.Sequential(nn.Linear(6, 48), nn.SELU(), nn.AlphaDropout(0.1), nn.Linear(48, 1, bias=False))
        nn.init.zeros_(self.net[-1].weight)  # all risks equal at first; a bias would cancel in the loss

    def forward(self, x):
        return self.net(x).squeeze(-1)

    def training_step(self, batch, _):
        x, time, burnt = batch
        loss = cox_loss(self(x), time, burnt)
        self.log("train_loss", loss)
        return loss

    def validation_step(self, batch, _):
        x, time, burnt = batch
        score = self(x)
        self.log_dict({"val_loss": cox_loss(score, time, burnt), "val_c": concordance(score, time, burnt)})

    def on_validation_epoch_end(self):
        if self.current_epoch % 20 == 19:
            m = self.trainer.callback_metrics
            print(f"epoch {self.current_epoch + 1} " + " ".join(f"{k} {v.item():.4f}" for k, v in m.items()))

    def configure_optimizers(self):
        optimizer = torch.optim.AdamW(self.parameters(), lr=self.hparams.lr, weight_decay=0.05)
        cycle = torch.optim.lr_scheduler.OneCycleLR(optimizer, self.hparams.lr, total_steps=self.hparams.epochs)
        return [optimizer], [{"scheduler": cycle, "interval": "step"}]


L.seed_everything(95, verbose=False)
x, time, burnt, risk = bulbs(1500)
train = DataLoader(TensorDataset(x[:1000], time[:1000], burnt[:1000]), batch_size=1000)
val = DataLoader(TensorDataset(x[1000:], time[1000:], burnt[1000:]), batch_size=500)
model = Cox()
trainer = L.Trainer(
    max_epochs=120, accelerator="cpu", logger=False, enable_checkpointing=False, enable_progress_bar=False,
    enable_model_summary=False, gradient_clip_val=5.0, num_sanity_val_steps=0, log_every_n_steps=1,
)  # fmt: skip
trainer.fit(model, train, val)
print(f"with the true risks: {concordance(risk[1000:], time[1000:], burnt[1000:]).item():.4f}")
