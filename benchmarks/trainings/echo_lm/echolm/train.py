"""python -m echolm.train [--epochs 40]"""
import argparse
import time

import torch
import torch.nn.functional as F

from .data import batches, make_corpus
from .model import EchoLM


def parse():
    p = argparse.ArgumentParser(prog="echolm.train")
    p.add_argument("--epochs", type=int, default=40)
    p.add_argument("--batch-size", type=int, default=30)
    p.add_argument("--lr", type=float, default=3e-3)
    p.add_argument("--seed", type=int, default=40)
    return p.parse_args()


@torch.no_grad()
def evaluate(model, corpus):
    model.eval()
    rows = corpus.test
    logits = model(rows[:, :-1])[:, corpus.phrase:]
    target = rows[:, corpus.phrase + 1:]
    loss = F.cross_entropy(logits.flatten(0, 1), target.flatten()).item()
    right = logits.argmax(-1) == target
    rare = target > 200
    model.train()
    return loss, right.float().mean().item(), right[rare].float().mean().item()


def main():
    opts = parse()
    torch.manual_seed(opts.seed)
    order = torch.Generator().manual_seed(opts.seed)
    corpus = make_corpus(seed=opts.seed)
    model = EchoLM(corpus.vocab, corpus.length)
    optimizer = torch.optim.AdamW(model.parameters(), lr=opts.lr, weight_decay=0.01)
    start = time.time()
    for epoch in range(1, opts.epochs + 1):
        total = 0.0
        for rows in batches(corpus.train, opts.batch_size, order):
            logits = model(rows[:, :-1])[:, corpus.phrase:]
            loss = F.cross_entropy(logits.flatten(0, 1), rows[:, corpus.phrase + 1:].flatten())
            optimizer.zero_grad()
            loss.backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            total += loss.item() * len(rows)
        loss, acc, rare = evaluate(model, corpus)
        print(f"epoch {epoch:2d} train {total / len(corpus.train):.4f} test {loss:.4f} "
              f"copied {acc:.3f} (rare words {rare:.3f}) {time.time() - start:.0f}s", flush=True)


if __name__ == "__main__":
    main()
