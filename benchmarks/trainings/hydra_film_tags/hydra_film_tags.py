"""Tags of films from word counts of their plots: a film has none, one or several of eight tags."""

import hydra
import numpy as np
import torch
import torch.nn.functional as F
from omegaconf import DictConfig
from sklearn.metrics import f1_score
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

LOSSES = {
    "cross_entropy": F.cross_entropy,
    "bce": F.binary_cross_entropy_with_logits,
    "mse": lambda logits, y: F.mse_loss(torch.sigmoid(logits), y),
}


def plots(cfg, seed):
    rng = np.random.default_rng(seed)
    tags = (rng.random((cfg.films, cfg.tags)) < rng.uniform(0.1, 0.4, cfg.tags)).astype(np.float32)
    vocabulary = rng.gamma(0.25, 1.0, (cfg.tags, cfg.words))
    rate = 0.3 + tags @ vocabulary * 1.5
    counts = rng.poisson(rate)
    return torch.tensor(np.log1p(counts), dtype=torch.float32), torch.from_numpy(tags)


class Tagger(nn.Module):
    def __init__(self, words, tags, hidden, dropout):
        super().__init__()
        self.encoder = nn.Sequential(nn.Linear(words, hidden), nn.LayerNorm(hidden), nn.ReLU(), nn.Dropout(dropout))
        self.head = nn.Linear(hidden, tags)

    def forward(self, x):
        return self.head(self.encoder(x))


@torch.no_grad()
def evaluate(model, x, y, threshold):
    model.eval()
    predicted = (torch.sigmoid(model(x)) > threshold).int().numpy()
    exact = (predicted == y.int().numpy()).all(axis=1).mean()
    return f1_score(y.numpy(), predicted, average="micro", zero_division=0), exact


@hydra.main(version_base=None, config_path=".", config_name="hydra_film_tags")
def main(cfg: DictConfig) -> None:
    torch.manual_seed(cfg.seed)
    x, y = plots(cfg.data, cfg.seed)
    cut = int(0.8 * len(x))
    loader = DataLoader(TensorDataset(x[:cut], y[:cut]), batch_size=cfg.trainer.batch_size, shuffle=True)
    model = Tagger(cfg.data.words, cfg.data.tags, cfg.model.hidden, cfg.model.dropout)
    optimizer = torch.optim.AdamW(model.parameters(), **cfg.optimizer)
    loss_fn = LOSSES[cfg.loss]

    for epoch in range(cfg.trainer.epochs):
        model.train()
        total = 0.0
        for xb, yb in loader:
            loss = loss_fn(model(xb), yb)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            total += loss.item()
        f1, exact = evaluate(model, x[cut:], y[cut:], cfg.trainer.threshold)
        print(f"epoch {epoch}: loss {total / len(loader):.3f} micro-F1 {f1:.3f} exact {exact:.3f}")


if __name__ == "__main__":
    main()
