"""Attention has a fast path in evaluation that a clumsy observer would switch off."""

import torch
from torch import nn

torch.manual_seed(1)
layer = nn.TransformerEncoderLayer(16, 2, 32, batch_first=True)
model = nn.Sequential(
    nn.Embedding(20, 16),
    nn.TransformerEncoder(layer, 1),
    nn.Flatten(),
    nn.Linear(16 * 6, 4),
)
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
tokens, labels = torch.randint(0, 20, (40, 6)), torch.randint(0, 4, (40,))
for step in range(26):
    model.train()
    loss = nn.functional.cross_entropy(model(tokens), labels)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(repr(loss.item()))
    if step % 5 == 0:
        model.eval()
        with torch.no_grad():
            print(repr(model(tokens).sum().item()))
