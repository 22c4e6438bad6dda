"""Volume of sand dunes from a height profile, Lightning module with a stack of hidden layers."""

import lightning as L
import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


def dunes(n, points=40):
    """A profile of two ridges; the volume depends on heights and on how steep the lee side is."""
    t = torch.linspace(0, 1, points)
    centre = 0.2 + 0.6 * torch.rand(n, 2, 1)
    height = 0.3 + torch.rand(n, 2, 1)
    width = 0.05 + 0.1 * torch.rand(n, 2, 1)
    profile = (height * torch.exp(-(((t - centre) / width) ** 2))).sum(1)
    steep = profile.diff(dim=1).abs().max(1).values
    volume = profile.mean(1) * (1 + 2 * steep) + profile.max(1).values ** 2
    return profile + 0.01 * torch.randn(n, points), volume


class DuneModel(L.LightningModule):
    def __init__(self, points=40, width=48, depth=3, lr=2e-3):
        super().__init__()
        self.save_hyperparameters()
        sizes = [points] + [width] * depth
        self.layers = [nn.Sequential(nn.Linear(a, b), nn.GELU()) for a, b in zip(sizes[:-1], sizes[1:])]
        self.head = nn.Linear(width, 1)

    def forward(self, x):
        for layer in self.layers:
            x = layer(x)
        return self.head(x).squeeze(-1)

    def step(self, batch, name):
        x, y = batch
        prediction = self(x)
        loss = F.mse_loss(prediction, y)
        self.log(f"{name}_loss", loss, prog_bar=True, on_epoch=True, on_step=False)
        return loss, prediction

    def training_step(self, batch, _):
        return self.step(batch, "train")[0]

    def validation_step(self, batch, _):
        loss, prediction = self.step(batch, "val")
        self.log("val_r2", 1 - loss / batch[1].var())

    def configure_optimizers(self):
        return torch.optim.Adam(self.parameters(), lr=self.hparams.lr)


class Report(L.Callback):
    def on_validation_epoch_end(self, trainer, module):
        if not trainer.sanity_checking:
            seen = {k: round(v.item(), 4) for k, v in trainer.callback_metrics.items()}
            print(trainer.current_epoch, seen)


def main():
    L.seed_everything(24, verbose=False)
    x, y = dunes(2200)
    mean, std = y[:1800].mean(), y[:1800].std()
    y = (y - mean) / std
    train = DataLoader(TensorDataset(x[:1800], y[:1800]), batch_size=60, shuffle=True)
    val = DataLoader(TensorDataset(x[1800:], y[1800:]), batch_size=400)
    model = DuneModel()
    trainer = L.Trainer(
        max_epochs=12, accelerator="cpu", logger=False, enable_checkpointing=False, enable_progress_bar=False,
        enable_model_summary=False, callbacks=[Report()],
    )  # fmt: skip
    trainer.fit(model, train, val)
    print("trained weights:", sum(p.numel() for p in model.parameters()))


if __name__ == "__main__":
    main()
