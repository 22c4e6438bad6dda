"""Rating prediction in Lightning with manual optimisation.

Embeddings are sparse and get SparseAdam, the dense part gets SGD. Validation keeps dropout on
and averages several passes (Monte-Carlo dropout), which also yields an uncertainty.
"""
import lightning as L
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

L.seed_everything(18, verbose=False)
USERS, ITEMS, FACTORS = 250, 120, 4


def ratings(n):
    g = torch.Generator().manual_seed(5)
    u_vec, i_vec = torch.randn(USERS, FACTORS, generator=g), torch.randn(ITEMS, FACTORS, generator=g)
    u_bias, i_bias = 0.4 * torch.randn(USERS, generator=g), 0.6 * torch.randn(ITEMS, generator=g)
    u, i = torch.randint(USERS, (n,), generator=g), torch.randint(ITEMS, (n,), generator=g)
    score = 0.5 * (u_vec[u] * i_vec[i]).sum(-1) + u_bias[u] + i_bias[i] + 0.3 * torch.randn(n, generator=g)
    return TensorDataset(u, i, score)


class Recommender(L.LightningModule):
    automatic_optimization = False

    def __init__(self, dim=8, passes=8):
        super().__init__()
        self.passes = passes
        self.user = nn.Embedding(USERS, dim, sparse=True)
        self.item = nn.Embedding(ITEMS, dim, sparse=True)
        nn.init.normal_(self.user.weight, std=0.3)
        nn.init.normal_(self.item.weight, std=0.3)
        self.mix = nn.Sequential(nn.Linear(3 * dim, 48), nn.ReLU(), nn.Dropout(0.05), nn.Linear(48, 1))
        self.stats = []

    def forward(self, u, i):
        a, b = self.user(u), self.item(i)
        return self.mix(torch.cat([a, b, a * b], -1)).squeeze(-1) + (a * b).sum(-1)

    def configure_optimizers(self):
        tables = torch.optim.SparseAdam([self.user.weight, self.item.weight], lr=0.02)
        dense = torch.optim.SGD(self.mix.parameters(), lr=0.05, momentum=0.9)
        decay = [torch.optim.lr_scheduler.ExponentialLR(o, 0.75) for o in (tables, dense)]
        return [tables, dense], decay

    def training_step(self, batch, _):
        u, i, r = batch
        optimizers = self.optimizers()
        for o in optimizers:
            o.zero_grad()
        loss = nn.functional.huber_loss(self(u, i), r, delta=1.0)
        self.manual_backward(loss)
        for o in optimizers:
            o.step()
        self.log("train", loss, on_epoch=True, on_step=False, batch_size=len(r))

    def on_train_epoch_end(self):
        for s in self.lr_schedulers():
            s.step()
        print(f"epoch {self.current_epoch}  train huber {float(self.trainer.callback_metrics['train']):.4f}  {self.summary}")

    def on_validation_epoch_start(self):
        self.stats.clear()
        self.mix.train()   # dropout stays on: Monte-Carlo passes below

    def validation_step(self, batch, _):
        u, i, r = batch
        draws = torch.stack([self(u, i) for _ in range(self.passes)])
        self.stats.append((draws.mean(0) - r, draws.std(0)))

    def on_validation_epoch_end(self):
        err, spread = (torch.cat(t) for t in zip(*self.stats))
        self.mix.eval()
        self.summary = f"val RMSE {err.pow(2).mean().sqrt():.4f}  mean MC spread {spread.mean():.3f}"


if __name__ == "__main__":
    full = ratings(14000)
    train, val = torch.utils.data.random_split(full, [12000, 2000], generator=torch.Generator().manual_seed(0))
    target = torch.stack([r for _, _, r in val])
    print(f"spread of the validation ratings (mean predictor RMSE) {target.std():.4f}, noise floor 0.30")
    model = Recommender()
    trainer = L.Trainer(max_epochs=9, accelerator="cpu", logger=False, enable_checkpointing=False, enable_progress_bar=False,
                        enable_model_summary=False, num_sanity_val_steps=0)
    trainer.fit(model, DataLoader(train, 200, shuffle=True), DataLoader(val, 1000))
    print("final:", model.summary)
