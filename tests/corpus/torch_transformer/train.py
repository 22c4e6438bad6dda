"""Which symbol occurs most often? Token embedding, positions, a transformer encoder."""
import argparse
import math

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

VOCAB_SIZE = 12
SEQ_LEN = 10


class Positions(nn.Module):
    def __init__(self, width, length):
        super().__init__()
        angle = torch.arange(length)[:, None] * torch.exp(-math.log(10000.0) * torch.arange(0, width, 2) / width)
        table = torch.zeros(length, width)
        table[:, 0::2], table[:, 1::2] = torch.sin(angle), torch.cos(angle)
        self.register_buffer("table", table)

    def forward(self, x):
        return x + self.table


class Counter(nn.Module):
    def __init__(self, d_model=16, nhead=4, dim_feedforward=32, num_layers=2, dropout=0.1):
        super().__init__()
        self.embed = nn.Embedding(VOCAB_SIZE, d_model)
        self.positions = Positions(d_model, SEQ_LEN)
        layer = nn.TransformerEncoderLayer(d_model, nhead, dim_feedforward, dropout, activation="gelu", batch_first=True)
        self.encoder = nn.TransformerEncoder(layer, num_layers, enable_nested_tensor=False)
        self.norm = nn.LayerNorm(d_model)
        self.out = nn.Linear(d_model, VOCAB_SIZE)

    def forward(self, tokens):
        h = self.positions(self.embed(tokens))
        h = self.encoder(h).mean(dim=1)
        return self.out(self.norm(h))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--learning_rate", type=float, default=5e-3)
    parser.add_argument("--batch_size", type=int, default=32)
    parser.add_argument("--num_epochs", type=int, default=10)
    parser.add_argument("--warmup_steps", type=int, default=5)
    opts = parser.parse_args()

    torch.manual_seed(0)
    tokens = torch.randint(0, VOCAB_SIZE, (256, SEQ_LEN))
    label = torch.nn.functional.one_hot(tokens, VOCAB_SIZE).sum(1).argmax(1)
    loader = DataLoader(TensorDataset(tokens, label), batch_size=opts.batch_size, shuffle=True)

    model = Counter()
    optimizer = torch.optim.AdamW(model.parameters(), lr=opts.learning_rate, betas=(0.9, 0.98), weight_decay=0.02)
    scheduler = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: min(1.0, (step + 1) / opts.warmup_steps))
    criterion = nn.CrossEntropyLoss()
    for epoch in range(opts.num_epochs):
        model.train()
        for x, y in loader:
            loss = criterion(model(x), y)
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            scheduler.step()
        print(f"epoch {epoch}: loss {loss.item():.4f}")
    model.eval()
    with torch.no_grad():
        print(f"accuracy: {(model(tokens).argmax(1) == label).float().mean().item():.3f}")


if __name__ == "__main__":
    main()
