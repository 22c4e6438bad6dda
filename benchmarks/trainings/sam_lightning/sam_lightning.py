"""Sharpness-aware training in Lightning with manual optimisation: two backward passes and two moves per batch.

Only the second gradient is used for the update; the first is just for finding the neighbour, which is why the weights
are pushed up the gradient and put back afterwards. 15 % of the training labels are noisy on purpose of the study, so
the training loss stays high; test labels are clean.
"""
import logging
import warnings

import lightning as L
import torch
from sklearn.datasets import load_digits
from torch import nn
from torch.nn import functional as F
from torch.utils.data import DataLoader, TensorDataset

warnings.filterwarnings("ignore")
logging.getLogger("lightning.pytorch").setLevel(logging.ERROR)
logging.getLogger("lightning.fabric").setLevel(logging.ERROR)


class SamNet(L.LightningModule):
    def __init__(self, rho=0.1, lr=0.1):
        super().__init__()
        self.automatic_optimization = False
        self.rho, self.lr = rho, lr
        self.net = nn.Sequential(nn.Linear(64, 96), nn.ReLU(), nn.Linear(96, 96), nn.ReLU(), nn.Linear(96, 10))
        self.hits, self.seen, self.losses = 0, 0, []

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=self.lr, momentum=0.9, weight_decay=5e-4)

    def training_step(self, batch, _):
        x, y = batch
        opt = self.optimizers()
        loss = F.cross_entropy(self.net(x), y)
        self.manual_backward(loss)
        with torch.no_grad():
            norm = torch.sqrt(sum(p.grad.pow(2).sum() for p in self.parameters())) + 1e-12
            moves = [self.rho * p.grad / norm for p in self.parameters()]
            for p, m in zip(self.parameters(), moves):
                p.add_(m)
        opt.zero_grad()
        self.manual_backward(F.cross_entropy(self.net(x), y))
        with torch.no_grad():
            for p, m in zip(self.parameters(), moves):
                p.sub_(m)
        opt.step()
        opt.zero_grad()
        self.losses.append(loss.item())

    def on_train_epoch_end(self):
        opt = self.optimizers()
        for g in opt.param_groups:
            g["lr"] = self.lr * (1 - (self.current_epoch + 1) / self.trainer.max_epochs) + 1e-3

    def validation_step(self, batch, _):
        x, y = batch
        self.hits += (self.net(x).argmax(1) == y).sum().item()
        self.seen += len(y)

    def on_validation_epoch_end(self):
        if self.losses:
            print(f"epoch {self.current_epoch} train loss {sum(self.losses) / len(self.losses):.3f} clean accuracy {self.hits / self.seen:.3f}")
        self.hits, self.seen, self.losses = 0, 0, []


def main():
    L.seed_everything(0)
    d = load_digits()
    x = torch.tensor(d.data / 16 - 0.3, dtype=torch.float32)
    y = torch.tensor(d.target)
    order = torch.randperm(len(x))
    tr, te = order[:1200], order[1200:]
    y_tr = y[tr].clone()
    wrong = torch.rand(len(tr)) < 0.15
    y_tr[wrong] = torch.randint(10, (int(wrong.sum()),))
    train = DataLoader(TensorDataset(x[tr], y_tr), batch_size=48, shuffle=True)
    val = DataLoader(TensorDataset(x[te], y[te]), batch_size=200)
    trainer = L.Trainer(max_epochs=12, check_val_every_n_epoch=3, accelerator="cpu", logger=False, enable_checkpointing=False,
                        enable_progress_bar=False, enable_model_summary=False, num_sanity_val_steps=0)
    trainer.fit(SamNet(), train, val)
    print(f"most common digit {y[te].bincount().max().item() / len(te):.3f}")


if __name__ == "__main__":
    main()
