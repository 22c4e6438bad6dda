"""Tag every position with the symbol found at the mirrored position (plus the local one, mod symbols)."""
from pathlib import Path

import torch
import yaml
from torch import nn
from torch.nn import functional as F


class Block(nn.Module):
    def __init__(self, width, heads, ff_mult):
        super().__init__()
        self.heads = heads
        self.qkv = nn.Linear(width, 3 * width)
        self.proj = nn.Linear(width, width)
        self.ff = nn.Sequential(nn.Linear(width, ff_mult * width), nn.ReLU(), nn.Linear(ff_mult * width, width))
        self.ln1 = nn.LayerNorm(width)
        self.ln2 = nn.LayerNorm(width)

    def attend(self, x):
        b, t, w = x.shape
        q, k, v = self.qkv(x).view(b, t, 3, self.heads, w // self.heads).permute(2, 0, 3, 1, 4)
        y = F.scaled_dot_product_attention(q, k, v)
        return self.proj(y.transpose(1, 2).reshape(b, t, w))

    def forward(self, x):
        x = self.ln1(x + self.attend(x))
        return self.ln2(x + self.ff(x))


class Tagger(nn.Module):
    def __init__(self, symbols, length, width, heads, depth, ff_mult):
        super().__init__()
        self.sym = nn.Embedding(symbols, width)
        self.pos = nn.Embedding(length, width)
        self.blocks = nn.ModuleList(Block(width, heads, ff_mult) for _ in range(depth))
        self.out = nn.Linear(width, symbols)

    def forward(self, ids):
        x = self.sym(ids) + self.pos(torch.arange(ids.shape[1]))
        for block in self.blocks:
            x = block(x)
        return self.out(x)


def make_rows(n, symbols, length):
    ids = torch.randint(symbols, (n, length))
    return ids, (ids.flip(1) + ids) % symbols


def rate_factor(step, warmup_steps, total_steps):
    if step < warmup_steps:
        return (step + 1) / warmup_steps
    return max(0.02, 1.0 - (step - warmup_steps) / (total_steps - warmup_steps))


def main():
    cfg = yaml.safe_load(Path(__file__).with_name("config.yaml").read_text())
    torch.manual_seed(cfg["seed"])
    d, o, t = cfg["data"], cfg["optim"], cfg["train"]
    x_train, y_train = make_rows(d["train_rows"], d["symbols"], d["length"])
    x_test, y_test = make_rows(d["test_rows"], d["symbols"], d["length"])

    model = Tagger(d["symbols"], d["length"], **cfg["model"])
    optimizer = torch.optim.AdamW(model.parameters(), lr=o["lr"], betas=tuple(o["betas"]), weight_decay=o["weight_decay"])
    steps_per_epoch = d["train_rows"] // t["batch_size"]
    total = steps_per_epoch * o["decay_epochs"]
    scheduler = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda s: rate_factor(s, o["warmup_steps"], total))

    for epoch in range(t["epochs"]):
        model.train()
        order = torch.randperm(d["train_rows"])
        total_loss = 0.0
        for idx in order.split(t["batch_size"]):
            logits = model(x_train[idx])
            loss = F.cross_entropy(logits.flatten(0, 1), y_train[idx].flatten())
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            scheduler.step()
            total_loss += loss.item()
        model.eval()
        with torch.no_grad():
            acc = (model(x_test).argmax(-1) == y_test).float().mean().item()
        print(f"epoch {epoch + 1:2d}  lr {scheduler.get_last_lr()[0]:.5f}  loss {total_loss / steps_per_epoch:.4f}  token acc {acc:.3f}")


if __name__ == "__main__":
    main()
