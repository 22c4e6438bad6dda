"""python -m pkg_reviews_masked.train: sentiment of generated restaurant reviews."""
import argparse
import time

import torch
from torch import nn

from .data import eval_loader, train_loader
from .model import ReviewEncoder


def evaluate(model, loader):
    model.eval()
    correct = total = 0
    with torch.no_grad():
        for tokens, labels in loader:
            guess = model(tokens) > 0
            correct += (guess == labels.bool()).sum().item()
            total += labels.numel()
    return correct / total


def run(epochs, batch_size, lr):
    torch.manual_seed(0)
    train = train_loader(2400, batch_size, seed=1)
    held_out = eval_loader(300, 100, seed=2)
    model = ReviewEncoder()
    optimizer = torch.optim.AdamW(model.parameters(), lr=lr, weight_decay=0.01)
    scheduler = torch.optim.lr_scheduler.OneCycleLR(optimizer, lr, total_steps=epochs * len(train))
    criterion = nn.BCEWithLogitsLoss()
    for epoch in range(1, epochs + 1):
        model.train()
        start, losses, hits, seen = time.time(), 0.0, 0, 0
        for tokens, labels in train:
            logits = model(tokens)
            loss = criterion(logits, labels)
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            scheduler.step()
            losses += loss.item()
            hits += ((logits > 0) == labels.bool()).sum().item()
            seen += len(labels)
        print(
            f"epoch {epoch} loss {losses / len(train):.4f} train acc {hits / seen:.3f} "
            f"val acc {evaluate(model, held_out):.3f} ({time.time() - start:.1f}s)"
        )


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--epochs", type=int, default=7)
    parser.add_argument("--batch-size", type=int, default=40)
    parser.add_argument("--lr", type=float, default=3e-3)
    args = parser.parse_args()
    run(args.epochs, args.batch_size, args.lr)
