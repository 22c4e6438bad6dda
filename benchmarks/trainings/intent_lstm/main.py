import logging
import warnings

import lightning as L
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset
from torchmetrics.classification import MulticlassAccuracy

warnings.filterwarnings("ignore")
logging.getLogger("lightning.pytorch").setLevel(logging.ERROR)

VOCAB, LENGTH, CLASSES = 40, 24, 4


def build_corpus(n, generator):
    """Sequences of command tokens; the class is given by which of the four trigger words came first."""
    tokens = torch.randint(4, VOCAB, (n, LENGTH), generator=generator)
    labels = torch.zeros(n, dtype=torch.long)
    for i in range(n):
        places = torch.randperm(LENGTH - 2, generator=generator)[:3].sort().values
        triggers = torch.randperm(4, generator=generator)[:3]
        tokens[i, places] = triggers
        labels[i] = triggers[0]
    return tokens, labels


class IntentData(L.LightningDataModule):
    def __init__(self, batch_size=64):
        super().__init__()
        self.batch_size = batch_size

    def setup(self, stage=None):
        g = torch.Generator().manual_seed(77)
        x, y = build_corpus(5000, g)
        self.train = TensorDataset(x[:4200], y[:4200])
        self.val = TensorDataset(x[4200:], y[4200:])

    def train_dataloader(self):
        return DataLoader(self.train, self.batch_size, shuffle=True)

    def val_dataloader(self):
        return DataLoader(self.val, self.batch_size)


class IntentClassifier(L.LightningModule):
    def __init__(self, emb=24, hidden=64, lr=4e-3):
        super().__init__()
        self.save_hyperparameters()
        self.embed = nn.Embedding(VOCAB, emb)
        self.lstm = nn.LSTM(emb, hidden, num_layers=1)
        self.drop = nn.Dropout(0.1)
        self.head = nn.Linear(hidden, CLASSES)
        self.loss_fn = nn.CrossEntropyLoss()
        self.val_acc = MulticlassAccuracy(CLASSES, average="micro")

    def forward(self, tokens):
        states, _ = self.lstm(self.embed(tokens))
        return self.head(self.drop(states[:, -1]))

    def training_step(self, batch, batch_idx):
        tokens, labels = batch
        loss = self.loss_fn(self(tokens), labels)
        self.log("train_loss", loss, on_epoch=True, on_step=False)
        return loss

    def validation_step(self, batch, batch_idx):
        tokens, labels = batch
        logits = self(tokens)
        self.val_acc(logits, labels)
        self.log("val_loss", self.loss_fn(logits, labels))
        self.log("val_acc", self.val_acc)

    def configure_optimizers(self):
        opt = torch.optim.Adam(self.parameters(), lr=self.hparams.lr)
        sched = torch.optim.lr_scheduler.CosineAnnealingLR(opt, T_max=self.trainer.max_epochs)
        return {"optimizer": opt, "lr_scheduler": sched}


class PrintMetrics(L.Callback):
    def on_validation_epoch_end(self, trainer, module):
        if trainer.sanity_checking:
            return
        m = trainer.callback_metrics
        print(f"epoch {trainer.current_epoch}: val_loss {m['val_loss']:.4f} val_acc {m['val_acc']:.4f}")

    def on_train_epoch_end(self, trainer, module):
        print(f"          train_loss {trainer.callback_metrics['train_loss']:.4f}")


if __name__ == "__main__":
    L.seed_everything(77, verbose=False)
    trainer = L.Trainer(
        max_epochs=12,
        accelerator="cpu",
        gradient_clip_val=1.0,
        logger=False,
        enable_checkpointing=False,
        enable_progress_bar=False,
        enable_model_summary=False,
        callbacks=[PrintMetrics()],
    )
    model = IntentClassifier()
    trainer.fit(model, datamodule=IntentData())
    print(f"chance level {1 / CLASSES:.2f}, final accuracy {trainer.callback_metrics['val_acc']:.3f}")
