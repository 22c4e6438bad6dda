"""Associative recall: read key/value pairs, answer with the value that belongs to the final query key."""
import argparse
import time
from dataclasses import dataclass, fields

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset


@dataclass
class Config:
    n_keys: int = 8
    n_values: int = 6
    pairs: int = 4
    d_model: int = 48
    heads: int = 4
    layers: int = 2
    n_train: int = 4000
    n_test: int = 1000
    batch_size: int = 64
    epochs: int = 6
    lr: float = 2e-3
    seed: int = 7


def parse_config() -> Config:
    parser = argparse.ArgumentParser()
    for f in fields(Config):
        parser.add_argument(f"--{f.name}", type=f.type if callable(f.type) else float, default=f.default)
    return Config(**vars(parser.parse_args()))


def make_split(cfg: Config, n: int, gen: torch.Generator):
    keys = torch.stack([torch.randperm(cfg.n_keys, generator=gen)[: cfg.pairs] for _ in range(n)])
    vals = torch.randint(cfg.n_values, (n, cfg.pairs), generator=gen)
    pick = torch.randint(cfg.pairs, (n,), generator=gen)
    rows = torch.arange(n)
    query = keys[rows, pick]
    answer = vals[rows, pick]
    # one position per pair, plus the query with an empty value slot
    k_ids = torch.cat([keys, query[:, None]], dim=1)
    v_ids = torch.cat([vals, torch.full((n, 1), cfg.n_values)], dim=1)
    return TensorDataset(k_ids, v_ids, answer)


class RecallNet(nn.Module):
    def __init__(self, cfg: Config):
        super().__init__()
        self.key_emb = nn.Embedding(cfg.n_keys, cfg.d_model)
        self.val_emb = nn.Embedding(cfg.n_values + 1, cfg.d_model)
        layer = nn.TransformerEncoderLayer(
            cfg.d_model, cfg.heads, dim_feedforward=2 * cfg.d_model, dropout=0.0,
            batch_first=True, norm_first=True,
        )
        self.encoder = nn.TransformerEncoder(layer, cfg.layers, enable_nested_tensor=False)
        self.norm = nn.LayerNorm(cfg.d_model)
        self.out = nn.Linear(cfg.d_model, cfg.n_values)

    def forward(self, k_ids, v_ids):
        tokens = self.key_emb(k_ids) + self.val_emb(v_ids)
        tokens = tokens.transpose(0, 1)
        hidden = self.encoder(tokens)
        hidden = hidden.transpose(0, 1)
        return self.out(self.norm(hidden[:, -1]))


@torch.no_grad()
def evaluate(model, loader):
    model.eval()
    hits, total = 0, 0
    for k, v, y in loader:
        hits += (model(k, v).argmax(-1) == y).sum().item()
        total += y.numel()
    return hits / total


def main():
    cfg = parse_config()
    torch.manual_seed(cfg.seed)
    gen = torch.Generator().manual_seed(cfg.seed)
    train_loader = DataLoader(make_split(cfg, cfg.n_train, gen), batch_size=cfg.batch_size, shuffle=True)
    test_loader = DataLoader(make_split(cfg, cfg.n_test, gen), batch_size=cfg.batch_size)

    model = RecallNet(cfg)
    optimizer = torch.optim.AdamW(model.parameters(), lr=cfg.lr, weight_decay=0.01)
    steps = cfg.epochs * len(train_loader)
    scheduler = torch.optim.lr_scheduler.OneCycleLR(optimizer, max_lr=cfg.lr, total_steps=steps)
    print(cfg)
    start = time.time()
    for epoch in range(cfg.epochs):
        model.train()
        running = 0.0
        for k, v, y in train_loader:
            loss = F.cross_entropy(model(k, v), y)
            optimizer.zero_grad(set_to_none=True)
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            scheduler.step()
            running += loss.item()
        acc = evaluate(model, test_loader)
        print(f"epoch {epoch + 1:2d} loss {running / len(train_loader):.4f} test_acc {acc:.3f} ({time.time() - start:.1f}s)")


if __name__ == "__main__":
    main()
