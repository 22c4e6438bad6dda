import random

import torch
import torch.nn.functional as F

from .data import PAD, batch_of, make
from .model import Seq2Seq

EPOCHS, BATCH, LR = 8, 32, 5e-3


def step_loss(model, src, tgt):
    logits = model(src, tgt[:, 1:])
    return F.cross_entropy(logits.flatten(0, 1), tgt[:, 1:].flatten(), ignore_index=PAD)


def exact_match(model, pairs):
    model.eval()
    src, tgt = batch_of(pairs)
    pred = model.greedy(src, tgt.size(1) - 1)
    return (pred == tgt[:, 1:]).all(1).float().mean().item(), (pred == tgt[:, 1:]).float().mean().item()


def main():
    torch.manual_seed(0)
    rng = random.Random(0)
    train, val = make(1600, 1), make(200, 2)
    model = Seq2Seq()
    opt = torch.optim.Adam(model.parameters(), lr=LR)
    for epoch in range(1, EPOCHS + 1):
        model.train()
        rng.shuffle(train)
        total = 0.0
        for i in range(0, len(train), BATCH):
            src, tgt = batch_of(train[i:i + BATCH])
            loss = step_loss(model, src, tgt)
            opt.zero_grad()
            loss.backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            opt.step()
            total += loss.item()
        em, ca = exact_match(model, val)
        print(f"epoch {epoch} loss {total / (len(train) // BATCH):.4f} greedy exact {em:.3f} char {ca:.3f}")


if __name__ == "__main__":
    main()
