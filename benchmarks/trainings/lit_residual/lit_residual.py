"""Residual MLP for a spiral problem, trained by Lightning."""

import logging
import warnings

import lightning as L
import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

warnings.filterwarnings("ignore")
logging.getLogger("lightning.pytorch").setLevel(logging.ERROR)
CLASSES = 5


def spirals(n, seed):
    rng = np.random.default_rng(seed)
    label = rng.integers(0, CLASSES, n)
    radius = rng.uniform(0.1, 1.0, n)
    angle = 4.5 * radius + 2 * np.pi * label / CLASSES + rng.normal(0, 0.12, n)
    points = np.stack([radius * np.cos(angle), radius * np.sin(angle)], axis=1)
    return TensorDataset(torch.tensor(points, dtype=torch.float32) * 2, torch.tensor(label))


class Block(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.norm = nn.LayerNorm(width)
        self.fc1 = nn.Linear(width, 2 * width)
        self.fc2 = nn.Linear(2 * width, width)

    def forward(self, x):
        return x + self.fc2(torch.relu(self.fc1(self.norm(x))))


class ResidualNet(nn.Module):
    def __init__(self, width=12, depth=4):
        super().__init__()
        self.stem = nn.Linear(2, width)
        self.blocks = [Block(width) for _ in range(depth)]
        self.head = nn.Linear(width, CLASSES)

    def forward(self, x):
        x = self.stem(x)
        for block in self.blocks:
            x = block(x)
        return self.head(x)


class SpiralTask(L.LightningModule):
    def __init__(self, lr=3e-3):
        super().__init__()
        self.model = ResidualNet()
        self.loss = nn.CrossEntropyLoss()
        self.lr = lr
        self.seen = []

    def training_step(self, batch, _):
        x, y = batch
        loss = self.loss(self.model(x), y)
        self.seen.append(loss.item())
        return loss

    def validation_step(self, batch, _):
        x, y = batch
        self.log("acc", (self.model(x).argmax(1) == y).float().mean(), on_epoch=True)

    def on_train_epoch_end(self):
        acc = self.trainer.callback_metrics["acc"].item()
        print(f"epoch {self.current_epoch:2d} loss {np.mean(self.seen):.4f} val acc {acc:.3f}")
        self.seen.clear()

    def configure_optimizers(self):
        return torch.optim.AdamW(self.parameters(), lr=self.lr, weight_decay=0.01)


def main():
    L.seed_everything(3, verbose=False)
    train = DataLoader(spirals(3000, 0), batch_size=64, shuffle=True)
    val = DataLoader(spirals(1000, 1), batch_size=500)
    trainer = L.Trainer(
        max_epochs=15, accelerator="cpu", logger=False, enable_checkpointing=False,
        enable_progress_bar=False, enable_model_summary=False, gradient_clip_val=1.0,
    )
    trainer.fit(SpiralTask(), train, val)


if __name__ == "__main__":
    main()
