import lightning as L
import torch
import torch.nn.functional as F
from torch import nn


class QueryTower(nn.Module):
    def __init__(self, n_tokens, dim):
        super().__init__()
        self.bag = nn.EmbeddingBag(n_tokens, dim, mode="mean")
        self.mlp = nn.Sequential(nn.Linear(dim, 2 * dim), nn.ReLU(), nn.Linear(2 * dim, dim))

    def forward(self, tokens):
        return self.mlp(self.bag(tokens))


class ProductTower(nn.Module):
    def __init__(self, brand, price, dim):
        super().__init__()
        self.register_buffer("brand", brand)
        self.register_buffer("price", price)
        self.product = nn.Embedding(len(brand), dim)
        self.brand_embedding = nn.Embedding(int(brand.max()) + 1, dim // 2)
        self.mlp = nn.Sequential(nn.Linear(dim + dim // 2 + 1, 2 * dim), nn.ReLU(), nn.Linear(2 * dim, dim))

    def forward(self, ids):
        parts = [self.product(ids), self.brand_embedding(self.brand[ids]), self.price[ids].unsqueeze(-1)]
        return self.mlp(torch.cat(parts, dim=-1))


class TwoTowerRanker(L.LightningModule):
    def __init__(self, log, sampling_prob, dim=32, lr=3e-3):
        super().__init__()
        self.query_tower = QueryTower(log.n_tokens, dim)
        self.product_tower = ProductTower(log.brand, log.price, dim)
        self.register_buffer("log_q", sampling_prob.log())
        self.lr = lr
        self.history = []

    def training_step(self, batch, _):
        tokens, product = batch
        logits = self.query_tower(tokens) @ self.product_tower(product).T
        logits = logits - self.log_q[product][:, None]
        same = product[:, None] == product[None, :]
        same.fill_diagonal_(False)
        logits = logits.masked_fill(same, float("-inf"))
        target = torch.arange(len(product), device=logits.device)
        loss = F.cross_entropy(logits, target)
        self.log("train_loss", loss, on_epoch=True, on_step=False)
        return loss

    def on_validation_epoch_start(self):
        everything = torch.arange(len(self.log_q), device=self.device)
        self.catalogue = self.product_tower(everything)

    def validation_step(self, batch, _):
        tokens, product = batch
        scores = self.query_tower(tokens) @ self.catalogue.T
        clicked = scores.gather(1, product[:, None])
        rank = (scores > clicked).sum(dim=1) + 1
        self.log("mrr", (1.0 / rank).mean(), batch_size=len(product))
        self.log("recall_at_10", (rank <= 10).float().mean(), batch_size=len(product))

    def on_validation_epoch_end(self):
        m = self.trainer.callback_metrics
        if not self.trainer.sanity_checking:
            print(f"epoch {self.current_epoch}  mrr {m['mrr']:.4f}  recall@10 {m['recall_at_10']:.4f}")

    def configure_optimizers(self):
        return torch.optim.Adam(self.parameters(), lr=self.lr)
