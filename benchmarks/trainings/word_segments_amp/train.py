"""Which language family does a (made-up) word come from?  CPU bf16, accumulated gradients."""
import random
import string

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

LETTERS = string.ascii_lowercase
MAX_LEN = 14
N_FAMILIES = 6


def family_tables(seed):
    g = torch.Generator().manual_seed(seed)
    logits = 1.4 * torch.randn(N_FAMILIES, 27, 26, generator=g)
    return torch.softmax(logits, dim=-1)


class Words(Dataset):
    def __init__(self, n, tables, seed):
        rng = random.Random(seed)
        self.rows = []
        for _ in range(n):
            fam = rng.randrange(N_FAMILIES)
            prev, ids = 26, []
            for _ in range(rng.randint(5, MAX_LEN)):
                prev = rng.choices(range(26), weights=tables[fam, prev].tolist())[0]
                ids.append(prev)
            self.rows.append((ids, fam))

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, i):
        ids, fam = self.rows[i]
        onehot = torch.zeros(26, MAX_LEN)
        onehot[ids, torch.arange(len(ids))] = 1.0
        return onehot, fam


class LetterConv(nn.Module):
    def __init__(self, channels=64):
        super().__init__()
        self.body = nn.Sequential(
            nn.Conv1d(26, channels, 3, padding=1), nn.ReLU(),
            nn.Conv1d(channels, channels, 3, padding=1), nn.ReLU(),
        )
        self.head = nn.Linear(channels, N_FAMILIES)

    def forward(self, x):
        return self.head(self.body(x).amax(dim=-1))


@torch.no_grad()
def accuracy(model, loader):
    model.eval()
    hit = total = 0
    for x, y in loader:
        with torch.autocast("cpu", dtype=torch.bfloat16):
            logits = model(x)
        hit += (logits.argmax(-1) == y).sum().item()
        total += len(y)
    return hit / total


def train(cfg):
    torch.manual_seed(cfg["seed"])
    tables = family_tables(cfg["seed"])
    train_loader = DataLoader(Words(2400, tables, 1), batch_size=cfg["micro_batch"], shuffle=True, drop_last=True)
    val_loader = DataLoader(Words(600, tables, 2), batch_size=200)
    model = LetterConv()
    optimizer = torch.optim.SGD(model.parameters(), lr=cfg["lr"], momentum=0.9)
    accum = cfg["accumulate"]
    for epoch in range(cfg["epochs"]):
        model.train()
        optimizer.zero_grad()
        running = 0.0
        for i, (x, y) in enumerate(train_loader):
            with torch.autocast("cpu", dtype=torch.bfloat16):
                logits = model(x)
                loss = nn.functional.cross_entropy(logits, y)
            (loss / accum).backward()
            running += loss.item()
            if (i + 1) % accum == 0:
                nn.utils.clip_grad_norm_(model.parameters(), max_norm=cfg["max_norm"])
                optimizer.step()
                optimizer.zero_grad()
        print(f"epoch {epoch + 1:2d}: train loss {running / len(train_loader):.4f}, "
              f"val accuracy {accuracy(model, val_loader):.4f}")


if __name__ == "__main__":
    train({
        "seed": 21,
        "epochs": 8,
        "lr": 0.05,
        "micro_batch": 20,
        "accumulate": 2,
        "max_norm": 5e-3,
    })
