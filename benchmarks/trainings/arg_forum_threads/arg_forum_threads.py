"""Route forum threads to a section with a small transformer encoder. Usage: python arg_forum_threads.py [--epochs N]"""

import argparse
import random
from dataclasses import dataclass

import torch
from torch import nn

SECTIONS = 4
PAD = 0


@dataclass
class Config:
    vocab: int = 60
    width: int = 32
    heads: int = 4
    layers: int = 2
    batch_size: int = 32
    epochs: int = 6
    lr: float = 1e-3
    seed: int = 13


def write_threads(n, cfg):
    """One word speaks for the section; the rest is chatter. Threads are 3 to 70 words long."""
    rnd = random.Random(cfg.seed)
    threads = []
    for _ in range(n):
        section = rnd.randrange(SECTIONS)
        length = int(3 * 24 ** rnd.random())
        words = [rnd.randrange(20, cfg.vocab) for _ in range(length)]
        words[rnd.randrange(length)] = 1 + section * 4 + rnd.randrange(4)
        threads.append((words, section))
    return threads


def collate(threads):
    longest = max(len(words) for words, _ in threads)
    ids = torch.tensor([words + [PAD] * (longest - len(words)) for words, _ in threads])
    return ids, torch.tensor([section for _, section in threads])


class Router(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        self.embed = nn.Embedding(cfg.vocab, cfg.width)
        layer = nn.TransformerEncoderLayer(
            cfg.width, cfg.heads, 2 * cfg.width, dropout=0.1, batch_first=True, norm_first=True
        )
        self.encoder = nn.TransformerEncoder(layer, cfg.layers, enable_nested_tensor=False)
        self.norm = nn.LayerNorm(cfg.width)
        self.head = nn.Linear(cfg.width, SECTIONS)

    def forward(self, ids):
        hidden = self.encoder(self.embed(ids))
        return self.head(self.norm(hidden.mean(dim=1)))


@torch.no_grad()
def accuracy(model, threads):
    model.eval()
    ids, section = collate(threads)
    return (model(ids).argmax(-1) == section).float().mean().item()


def main():
    parser = argparse.ArgumentParser()
    for name, value in vars(Config()).items():
        parser.add_argument(f"--{name}", type=type(value), default=value)
    cfg = Config(**vars(parser.parse_args()))
    torch.manual_seed(cfg.seed)
    threads = write_threads(2400, cfg)
    train, test = threads[:1600], threads[2000:]
    train.sort(key=lambda thread: len(thread[0]))  # batches of like length waste no padding
    batches = [train[i : i + cfg.batch_size] for i in range(0, len(train), cfg.batch_size)]

    model = Router(cfg)
    optimizer = torch.optim.AdamW(model.parameters(), lr=cfg.lr)
    criterion = nn.CrossEntropyLoss()
    for epoch in range(cfg.epochs):
        model.train()
        random.Random(epoch).shuffle(batches)
        total = 0.0
        for batch in batches:
            ids, section = collate(batch)
            loss = criterion(model(ids), section)
            optimizer.zero_grad()
            loss.backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            total += loss.item()
        print(f"epoch {epoch} loss {total / len(batches):.3f} test acc {accuracy(model, test):.3f}")
    one_by_one = sum(accuracy(model, [thread]) for thread in test) / len(test)
    print(f"test acc, one thread at a time {one_by_one:.3f}")


if __name__ == "__main__":
    main()
