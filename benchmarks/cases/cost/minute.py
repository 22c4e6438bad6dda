"""A training of about a minute, by kind: `mlp`, `cnn` or `gpt` on a CPU, `compiled-gpt` in bf16 on a GPU."""

import os
import sys
import time

import torch
from torch import nn
from torch.nn import functional as F
from torch.utils.data import DataLoader, TensorDataset

kind, steps = sys.argv[1], int(sys.argv[2])
device = "cuda" if kind == "compiled-gpt" else "cpu"
VOCABULARY, LENGTH = 64, 256 if device == "cuda" else 32


class Gpt(nn.Module):
    def __init__(self, width, layers):
        super().__init__()
        self.tokens = nn.Embedding(VOCABULARY, width)
        self.positions = nn.Parameter(torch.zeros(LENGTH, width))
        layer = nn.TransformerEncoderLayer(width, 4, 4 * width, dropout=0.0, batch_first=True, norm_first=True)
        self.encoder = nn.TransformerEncoder(layer, layers, enable_nested_tensor=False)
        self.head = nn.Linear(width, VOCABULARY)
        self.register_buffer("mask", nn.Transformer.generate_square_subsequent_mask(LENGTH))

    def forward(self, x):
        hidden = self.tokens(x) + self.positions
        return self.head(self.encoder(hidden, mask=self.mask, is_causal=True)).transpose(1, 2)


torch.manual_seed(0)
if device == "cuda":
    # Two trainings are compared digit by digit: sums of a card must not depend on who comes first.
    os.environ["CUBLAS_WORKSPACE_CONFIG"] = ":4096:8"
    torch.use_deterministic_algorithms(True, warn_only=True)
if kind.endswith("gpt"):
    starts, strides = torch.randint(0, VOCABULARY, (512, 1)), torch.randint(1, 6, (512, 1))
    text = (starts + strides * torch.arange(LENGTH + 1)) % VOCABULARY
    rows, labels = text[:, :-1], text[:, 1:]
    model = Gpt(768, 8) if device == "cuda" else Gpt(64, 2)
elif kind == "cnn":
    rows, labels = torch.randn(512, 3, 24, 24), torch.randint(0, 10, (512,))
    model = nn.Sequential(
        nn.Conv2d(3, 16, 3), nn.BatchNorm2d(16), nn.ReLU(), nn.MaxPool2d(2),
        nn.Conv2d(16, 32, 3), nn.ReLU(), nn.Flatten(), nn.Linear(32 * 81, 10),
    )
else:
    rows, labels = torch.randn(2048, 32), torch.randint(0, 4, (2048,))
    model = nn.Sequential(nn.Linear(32, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 4))
model = model.to(device)
run = torch.compile(model) if kind == "compiled-gpt" else model
loader = DataLoader(TensorDataset(rows, labels), batch_size=32, shuffle=True)
optimizer = torch.optim.AdamW(model.parameters(), lr=3e-4)


def train(count):
    done = 0
    while True:
        for batch, target in loader:
            optimizer.zero_grad()
            with torch.autocast(device, torch.bfloat16, enabled=device == "cuda"):
                loss = F.cross_entropy(run(batch.to(device)), target.to(device))
            loss.backward()
            optimizer.step()
            done += 1
            if done == count:
                return loss.item()


wall, cpu = time.perf_counter(), time.process_time()
loss = train(steps)
print(f"trained in {time.perf_counter() - wall:.3f} s, {time.process_time() - cpu:.3f} s of CPU")
print(f"loss {loss:.6f}")
