"""Two-stage training with Lightning: coarse wine-like quality groups first, then a finer grading on few labels."""
import warnings

import lightning as L
import torch
import torch.nn.functional as F
from lightning.pytorch.callbacks import Callback
from torch import nn
from torch.utils.data import DataLoader, TensorDataset
from torchmetrics.classification import MulticlassAccuracy

warnings.filterwarnings("ignore")
N_FEATURES, COARSE, FINE = 16, 3, 9


def make_samples(n, seed):
    base = torch.Generator().manual_seed(123)
    centres = torch.randn(FINE, 6, generator=base) * 1.4
    lift = torch.randn(6, N_FEATURES, generator=base) / 6 ** 0.5
    g = torch.Generator().manual_seed(seed)
    fine = torch.randint(FINE, (n,), generator=g)
    latent = centres[fine] + 0.6 * torch.randn(n, 6, generator=g)
    x = torch.tanh(latent @ lift) + 0.1 * torch.randn(n, N_FEATURES, generator=g)
    return x, fine


class Grader(L.LightningModule):
    def __init__(self, n_classes, width=64, lr=3e-3, backbone_lr=1e-3):
        super().__init__()
        self.save_hyperparameters()
        self.backbone = nn.Sequential(
            nn.Linear(N_FEATURES, width), nn.ReLU(), nn.Linear(width, width), nn.ReLU()
        )
        self.head = nn.Linear(width, n_classes)
        self.accuracy = MulticlassAccuracy(n_classes, average="micro")
        self.param_groups = [
            {"params": list(self.backbone.parameters()), "lr": backbone_lr},
            {"params": list(self.head.parameters()), "lr": lr},
        ]

    def start_fine_stage(self, n_classes):
        """New head for the fine grades; the backbone keeps what it has learnt and moves slowly."""
        self.head = nn.Linear(self.head.in_features, n_classes)
        self.accuracy = MulticlassAccuracy(n_classes, average="micro")
        self.param_groups[0]["lr"] = 1e-4

    def forward(self, x):
        return self.head(self.backbone(x))

    def training_step(self, batch, batch_idx):
        x, y = batch
        loss = F.cross_entropy(self(x), y)
        self.log("train_loss", loss, on_step=False, on_epoch=True)
        return loss

    def validation_step(self, batch, batch_idx):
        x, y = batch
        logits = self(x)
        self.accuracy.update(logits, y)
        self.log("val_loss", F.cross_entropy(logits, y))
        self.log("val_acc", self.accuracy)

    def configure_optimizers(self):
        return torch.optim.Adam([dict(g) for g in self.param_groups])


class PrintMetrics(Callback):
    def on_train_epoch_end(self, trainer, pl_module):
        m = trainer.callback_metrics
        print(f"epoch {trainer.current_epoch}: train_loss {m['train_loss']:.4f} "
              f"val_loss {m['val_loss']:.4f} val_acc {m['val_acc']:.4f}")


def fit(model, train, val, epochs):
    trainer = L.Trainer(
        max_epochs=epochs, accelerator="cpu", logger=False, enable_checkpointing=False,
        enable_progress_bar=False, enable_model_summary=False, callbacks=[PrintMetrics()], num_sanity_val_steps=0,
    )
    trainer.fit(model, DataLoader(train, 64, shuffle=True), DataLoader(val, 256))


def main():
    L.seed_everything(31)
    x, fine = make_samples(3000, seed=1)
    xv, fine_v = make_samples(800, seed=2)
    model = Grader(COARSE)
    print("--- stage 1: coarse groups")
    fit(model, TensorDataset(x, fine // 3), TensorDataset(xv, fine_v // 3), epochs=4)
    print("--- stage 2: fine grades")
    model.start_fine_stage(FINE)
    fit(model, TensorDataset(x[:1500], fine[:1500]), TensorDataset(xv, fine_v), epochs=10)


if __name__ == "__main__":
    main()
