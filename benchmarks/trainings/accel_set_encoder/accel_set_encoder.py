"""Does a token repeat in the sequence? A transformer encoder with Accelerate."""

import argparse

import torch
import torch.nn as nn
from accelerate import Accelerator
from accelerate.utils import set_seed
from torch.utils.data import DataLoader, TensorDataset


def make_set(n, seq_len, vocab, seed):
    g = torch.Generator().manual_seed(seed)
    tokens = torch.stack([torch.randperm(vocab, generator=g)[:seq_len] for _ in range(n)])
    labels = torch.randint(0, 2, (n,), generator=g)
    for i in labels.nonzero().flatten().tolist():
        a, b = torch.randperm(seq_len, generator=g)[:2].tolist()
        tokens[i, b] = tokens[i, a]
    return TensorDataset(tokens, labels)


class RepeatDetector(nn.Module):
    def __init__(self, vocab, seq_len, d_model=48, nhead=4, layers=2):
        super().__init__()
        self.embed = nn.Embedding(vocab, d_model)
        self.position = nn.Parameter(torch.zeros(1, seq_len, d_model))
        layer = nn.TransformerEncoderLayer(d_model, nhead, dim_feedforward=96, dropout=0.0)
        self.encoder = nn.TransformerEncoder(layer, num_layers=layers, enable_nested_tensor=False)
        self.head = nn.Linear(d_model, 2)

    def forward(self, tokens):
        h = self.embed(tokens) + self.position
        h = self.encoder(h)
        return self.head(h.mean(dim=1))


def run_epoch(accelerator, model, loader, optimizer=None, scheduler=None):
    training = optimizer is not None
    model.train(training)
    loss_sum, hits, count = 0.0, 0, 0
    for tokens, labels in loader:
        with torch.set_grad_enabled(training):
            logits = model(tokens)
            loss = nn.functional.cross_entropy(logits, labels)
        if training:
            accelerator.backward(loss)
            accelerator.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            scheduler.step()
            optimizer.zero_grad()
        loss_sum += loss.item() * len(labels)
        hits += (logits.argmax(-1) == labels).sum().item()
        count += len(labels)
    return loss_sum / count, hits / count


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--epochs", type=int, default=10)
    parser.add_argument("--batch-size", type=int, default=64)
    parser.add_argument("--lr", type=float, default=2e-3)
    parser.add_argument("--seq-len", type=int, default=8)
    parser.add_argument("--vocab", type=int, default=16)
    args = parser.parse_args()

    set_seed(0)
    accelerator = Accelerator(cpu=True)
    train = DataLoader(make_set(3200, args.seq_len, args.vocab, 1), args.batch_size, shuffle=True)
    valid = DataLoader(make_set(640, args.seq_len, args.vocab, 2), args.batch_size)
    model = RepeatDetector(args.vocab, args.seq_len)
    optimizer = torch.optim.AdamW(model.parameters(), lr=args.lr, weight_decay=0.01)
    scheduler = torch.optim.lr_scheduler.OneCycleLR(optimizer, args.lr, total_steps=args.epochs * len(train))
    model, optimizer, train, valid, scheduler = accelerator.prepare(model, optimizer, train, valid, scheduler)

    for epoch in range(args.epochs):
        tr_loss, tr_acc = run_epoch(accelerator, model, train, optimizer, scheduler)
        va_loss, va_acc = run_epoch(accelerator, model, valid)
        accelerator.print(f"{epoch:2d} | train {tr_loss:.4f} {tr_acc:.3f} | valid {va_loss:.4f} {va_acc:.3f}")


if __name__ == "__main__":
    main()
