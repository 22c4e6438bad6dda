import logging
import warnings

import lightning as L
import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

warnings.filterwarnings("ignore")
logging.getLogger("lightning.pytorch").setLevel(logging.ERROR)


class LitClassifier(L.LightningModule):
    def __init__(self, hidden_dim: int = 24, learning_rate: float = 0.01, weight_decay: float = 1e-4):
        super().__init__()
        self.save_hyperparameters()
        self.backbone = nn.Sequential(nn.Linear(5, hidden_dim), nn.ReLU(), nn.Dropout(0.1))
        self.head = nn.Linear(hidden_dim, 3)

    def forward(self, x):
        return self.head(self.backbone(x))

    def training_step(self, batch, batch_idx):
        x, y = batch
        loss = F.cross_entropy(self(x), y)
        self.log("train_loss", loss)
        return loss

    def validation_step(self, batch, batch_idx):
        x, y = batch
        scores = self(x)
        self.log("val_loss", F.cross_entropy(scores, y))
        self.log("val_acc", (scores.argmax(1) == y).float().mean())

    def configure_optimizers(self):
        optimizer = torch.optim.AdamW(
            self.parameters(), lr=self.hparams.learning_rate, weight_decay=self.hparams.weight_decay
        )
        scheduler = torch.optim.lr_scheduler.ExponentialLR(optimizer, gamma=0.9)
        return {"optimizer": optimizer, "lr_scheduler": scheduler}


def tensors(rows):
    x = torch.randn(rows, 5)
    return TensorDataset(x, (x[:, 0] > 0.4).long() + (x[:, 1] > 0).long())


def main():
    L.seed_everything(12, verbose=False)
    train_loader = DataLoader(tensors(240), batch_size=24, shuffle=True)
    val_loader = DataLoader(tensors(60), batch_size=60)
    model = LitClassifier(hidden_dim=20)
    trainer = L.Trainer(
        max_epochs=3,
        gradient_clip_val=1.0,
        accelerator="cpu",
        logger=False,
        enable_checkpointing=False,
        enable_progress_bar=False,
        enable_model_summary=False,
        num_sanity_val_steps=0,
    )
    trainer.fit(model, train_loader, val_loader)
    print(f"val_acc {trainer.callback_metrics['val_acc'].item():.4f}")


if __name__ == "__main__":
    main()
