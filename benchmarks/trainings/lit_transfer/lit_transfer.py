"""Lightning transfer: a self-supervised encoder is frozen, a head is trained, then the last block is released."""
import lightning as L
import torch
import torch.nn.functional as F
from lightning.pytorch.callbacks import BaseFinetuning
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


def digits(seed=0):
    x, y = load_digits(return_X_y=True)
    x = torch.tensor(x / 16.0, dtype=torch.float32).view(-1, 1, 8, 8)
    y = torch.tensor(y)
    tr, te = train_test_split(torch.arange(len(y)).numpy(), test_size=0.3, random_state=seed, stratify=y.numpy())
    return (x[tr], y[tr]), (x[te], y[te])


class Encoder(nn.Module):
    def __init__(self, dim=64):
        super().__init__()
        self.stem = nn.Sequential(nn.Conv2d(1, 24, 3, padding=1), nn.GroupNorm(4, 24), nn.GELU())
        self.body = nn.Sequential(nn.Conv2d(24, 48, 3, stride=2, padding=1), nn.GroupNorm(8, 48), nn.GELU(), nn.Flatten())
        self.last = nn.Sequential(nn.Linear(48 * 16, dim), nn.GELU())

    def forward(self, x):
        return self.last(self.body(self.stem(x)))


class Denoiser(L.LightningModule):
    """Pretraining without labels: reconstruct the picture from a damaged one."""

    def __init__(self, encoder):
        super().__init__()
        self.encoder = encoder
        self.decoder = nn.Linear(64, 64)

    def training_step(self, batch, batch_idx):
        (x,) = batch
        damaged = x * (torch.rand_like(x) > 0.3)
        loss = F.mse_loss(self.decoder(self.encoder(damaged)), x.flatten(1))
        self.log("recon", loss, on_epoch=True, on_step=False)
        return loss

    def configure_optimizers(self):
        return torch.optim.Adam(self.parameters(), lr=2e-3)


class ReleaseLastBlock(BaseFinetuning):
    def __init__(self, at_epoch):
        super().__init__()
        self.at_epoch = at_epoch

    def freeze_before_training(self, pl_module):
        self.freeze(pl_module.encoder)

    def finetune_function(self, pl_module, epoch, optimizer):
        if epoch == self.at_epoch:
            self.unfreeze_and_add_param_group(pl_module.encoder.last, optimizer, lr=3e-4)


class Classifier(L.LightningModule):
    def __init__(self, encoder):
        super().__init__()
        self.encoder = encoder
        self.head = nn.Linear(64, 10)
        nn.init.zeros_(self.head.weight)

    def forward(self, x):
        return self.head(self.encoder(x))

    def training_step(self, batch, batch_idx):
        x, y = batch
        return F.cross_entropy(self(x), y, label_smoothing=0.05)

    def validation_step(self, batch, batch_idx):
        x, y = batch
        logits = self(x)
        self.log("val_acc", (logits.argmax(1) == y).float().mean(), on_epoch=True)

    def on_validation_epoch_end(self):
        if self.current_epoch % 2 == 1:
            print(f"epoch {self.current_epoch} val_acc {self.trainer.callback_metrics['val_acc']:.3f}")

    def configure_optimizers(self):
        return torch.optim.Adam([p for p in self.parameters() if p.requires_grad], lr=5e-3)


def fit(module, loaders, epochs, callbacks=()):
    trainer = L.Trainer(max_epochs=epochs, accelerator="cpu", logger=False, enable_checkpointing=False,
                        enable_progress_bar=False, callbacks=list(callbacks), gradient_clip_val=1.0)
    trainer.fit(module, *loaders)
    return trainer


def main():
    L.seed_everything(3)
    (x, y), (xt, yt) = digits()
    encoder = Encoder()
    unlabelled = DataLoader(TensorDataset(x), batch_size=64, shuffle=True)
    pre = fit(Denoiser(encoder), [unlabelled], epochs=8)
    print(f"reconstruction error {pre.callback_metrics['recon']:.4f}")
    train = DataLoader(TensorDataset(x, y), batch_size=64, shuffle=True)
    val = DataLoader(TensorDataset(xt, yt), batch_size=256)
    trainer = fit(Classifier(encoder), [train, val], epochs=10, callbacks=[ReleaseLastBlock(5)])
    print(f"final val_acc {trainer.callback_metrics['val_acc']:.3f}")


if __name__ == "__main__":
    main()
