"""Estimate a machine's duty class from an unordered bag of meter readings (Lightning)."""
import lightning as L
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.nn.utils.rnn import pad_sequence
from torch.utils.data import DataLoader, Dataset

L.seed_everything(40, verbose=False)


class MeterDataset(Dataset):
    """Three duty classes; a reading is 0 while the machine rests, otherwise its load."""

    REST = (0.25, 0.5, 0.75)

    def __init__(self, n, seed):
        g = torch.Generator().manual_seed(seed)
        self.items = []
        for i in range(n):
            label = i % 3
            length = int(torch.randint(14, 56, (1,), generator=g))
            load = 0.6 + 0.5 * torch.randn(length, generator=g)
            rest = torch.rand(length, generator=g) < self.REST[label]
            self.items.append((load.masked_fill(rest, 0.0), label))

    def __len__(self):
        return len(self.items)

    def __getitem__(self, i):
        return self.items[i]


def collate(batch):
    readings, labels = zip(*batch)
    lengths = torch.tensor([len(r) for r in readings])
    return pad_sequence(readings, batch_first=True), lengths, torch.tensor(labels)


class DutyClassifier(L.LightningModule):
    def __init__(self, dim=32, heads=4, lr=3e-3, epochs=8):
        super().__init__()
        self.save_hyperparameters()
        self.lift = nn.Sequential(nn.Linear(1, dim), nn.GELU(), nn.Linear(dim, dim))
        self.cls = nn.Parameter(torch.randn(dim) * 0.02)
        layer = nn.TransformerEncoderLayer(dim, heads, 2 * dim, dropout=0.0, batch_first=True, norm_first=True)
        self.encoder = nn.TransformerEncoder(layer, num_layers=1, enable_nested_tensor=False)
        self.head = nn.Linear(dim, 3)

    def forward(self, readings, lengths):
        tokens = self.lift(readings.unsqueeze(-1))
        tokens = torch.cat([self.cls.expand(len(tokens), 1, -1), tokens], dim=1)
        position = torch.arange(tokens.size(1), device=tokens.device)
        pad = (position[None, :] > lengths[:, None]).float()
        out = self.encoder(tokens, src_key_padding_mask=pad)
        return self.head(out[:, 0])

    def training_step(self, batch, _):
        readings, lengths, label = batch
        loss = F.cross_entropy(self(readings, lengths), label)
        self.log("train_loss", loss, on_step=False, on_epoch=True, batch_size=len(label))
        return loss

    def validation_step(self, batch, _):
        readings, lengths, label = batch
        logits = self(readings, lengths)
        self.log("val_loss", F.cross_entropy(logits, label), batch_size=len(label))
        self.log("val_acc", (logits.argmax(-1) == label).float().mean(), batch_size=len(label))

    def on_train_epoch_end(self):
        m = {k: float(v) for k, v in self.trainer.callback_metrics.items()}
        print(f"epoch {self.current_epoch}: " + "  ".join(f"{k} {m[k]:.4f}" for k in ("train_loss", "val_loss", "val_acc") if k in m))

    def configure_optimizers(self):
        opt = torch.optim.AdamW(self.parameters(), lr=self.hparams.lr, weight_decay=1e-3)
        sched = torch.optim.lr_scheduler.CosineAnnealingLR(opt, T_max=self.hparams.epochs)
        return {"optimizer": opt, "lr_scheduler": {"scheduler": sched, "interval": "epoch"}}


if __name__ == "__main__":
    train = DataLoader(MeterDataset(1500, 1), batch_size=50, shuffle=True, collate_fn=collate)
    val = DataLoader(MeterDataset(600, 2), batch_size=200, collate_fn=collate)
    model = DutyClassifier()
    trainer = L.Trainer(
        max_epochs=model.hparams.epochs, accelerator="cpu", devices=1, gradient_clip_val=1.0, logger=False,
        enable_checkpointing=False, enable_progress_bar=False, enable_model_summary=False, num_sanity_val_steps=0)
    trainer.fit(model, train, val)
    print(trainer.validate(model, val, verbose=False))
