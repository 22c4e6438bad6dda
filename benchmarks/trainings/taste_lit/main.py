"""Matrix factorisation with sparse embeddings: two optimizers, manual optimization, early stopping."""
import logging
import warnings

import lightning as L
import torch
from lightning.pytorch.callbacks import Callback, EarlyStopping
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

logging.getLogger("lightning.pytorch").setLevel(logging.ERROR)
warnings.filterwarnings("ignore")
N_USERS, N_ITEMS, RANK = 300, 200, 4


def make_ratings(seed=3, density=0.35):
    g = torch.Generator().manual_seed(seed)
    u, v = torch.randn(N_USERS, RANK, generator=g), torch.randn(N_ITEMS, RANK, generator=g)
    bu, bv = 0.5 * torch.randn(N_USERS, 1, generator=g), 0.5 * torch.randn(1, N_ITEMS, generator=g)
    full = u @ v.T / 2 + bu + bv + 0.3 * torch.randn(N_USERS, N_ITEMS, generator=g)
    seen = torch.rand(N_USERS, N_ITEMS, generator=g) < density
    users, items = seen.nonzero(as_tuple=True)
    perm = torch.randperm(len(users), generator=g)
    users, items = users[perm], items[perm]
    values = full[users, items]                  # centred scores, negative for dislike
    cuts = int(0.8 * len(users)), int(0.9 * len(users))
    parts = []
    for lo, hi in ((0, cuts[0]), (cuts[0], cuts[1]), (cuts[1], len(users))):
        parts.append(TensorDataset(users[lo:hi], items[lo:hi], values[lo:hi]))
    return parts


class Taste(L.LightningModule):
    def __init__(self, dim=8):
        super().__init__()
        self.automatic_optimization = False
        self.user = nn.Embedding(N_USERS, dim, sparse=True)
        self.item = nn.Embedding(N_ITEMS, dim, sparse=True)
        nn.init.normal_(self.user.weight, std=0.3)
        nn.init.normal_(self.item.weight, std=0.3)
        self.mlp = nn.Sequential(nn.Linear(2 * dim, 32), nn.Tanh(), nn.Linear(32, 1))

    def forward(self, u, i):
        a, b = self.user(u), self.item(i)
        return (a * b).sum(-1) + self.mlp(torch.cat([a, b], -1)).squeeze(-1)

    def training_step(self, batch, _):
        u, i, r = batch
        sparse_opt, dense_opt = self.optimizers()
        sparse_opt.zero_grad()
        dense_opt.zero_grad()
        a, b = self.user(u), self.item(i)
        penalty = 0.01 * (a.pow(2).sum(-1) + b.pow(2).sum(-1)).mean()
        loss = nn.functional.mse_loss(self(u, i), r) + penalty
        self.manual_backward(loss)
        sparse_opt.step()
        dense_opt.step()
        self.log("train_loss", loss, on_step=False, on_epoch=True)

    def validation_step(self, batch, _):
        u, i, r = batch
        self.log("val_rmse_sq", nn.functional.mse_loss(self(u, i), r), on_epoch=True)

    def test_step(self, batch, _):
        u, i, r = batch
        self.log("test_mse", nn.functional.mse_loss(self(u, i), r))
        self.log("test_variance", r.var(unbiased=False))

    def configure_optimizers(self):
        sparse = torch.optim.SparseAdam([self.user.weight, self.item.weight], lr=8e-3)
        dense = torch.optim.AdamW(self.mlp.parameters(), lr=2e-3)
        return [sparse, dense]


class Show(Callback):
    def on_train_epoch_end(self, trainer, module):
        m = trainer.callback_metrics
        print(f"epoch {trainer.current_epoch:2d}  train {m['train_loss']:.4f}  val mse {m['val_rmse_sq']:.4f}")


def main():
    L.seed_everything(3, verbose=False)
    train, val, test = make_ratings()
    stop = EarlyStopping(monitor="val_rmse_sq", patience=2, min_delta=1e-3)
    trainer = L.Trainer(
        max_epochs=20, accelerator="cpu", logger=False, enable_checkpointing=False,
        enable_progress_bar=False, enable_model_summary=False, callbacks=[stop, Show()],
    )
    model = Taste()
    trainer.fit(model, DataLoader(train, 128, shuffle=True), DataLoader(val, 1024))
    result = trainer.test(model, DataLoader(test, len(test)), verbose=False)[0]
    print(f"test mse {result['test_mse']:.4f}  (variance {result['test_variance']:.4f}, noise 0.09)")


if __name__ == "__main__":
    main()
