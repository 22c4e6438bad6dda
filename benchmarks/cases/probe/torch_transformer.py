"""A language model of two encoder layers (width 64, 4 heads) that learns to continue a noisy counting sequence."""

import time

import torch
from torch import nn

VOCABULARY, LENGTH, WIDTH = 64, 32, 64


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.tokens = nn.Embedding(VOCABULARY, WIDTH)
        self.positions = nn.Parameter(torch.zeros(LENGTH, WIDTH))
        layer = nn.TransformerEncoderLayer(WIDTH, 4, 4 * WIDTH, dropout=0.1, batch_first=True)
        self.encoder = nn.TransformerEncoder(layer, 2)
        self.head = nn.Linear(WIDTH, VOCABULARY)
        self.register_buffer("mask", nn.Transformer.generate_square_subsequent_mask(LENGTH))

    def forward(self, x):
        hidden = self.tokens(x) + self.positions
        return self.head(self.encoder(hidden, mask=self.mask, is_causal=True))


torch.manual_seed(0)
starts = torch.randint(0, VOCABULARY, (1_600, 1))
strides = torch.randint(1, 6, (1_600, 1))
text = (starts + strides * torch.arange(LENGTH + 1)) % VOCABULARY
noise = torch.rand(text.shape) < 0.05
text = torch.where(noise, torch.randint(0, VOCABULARY, text.shape), text)

model = Model()
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3, weight_decay=0.01)
schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=300)
criterion = nn.CrossEntropyLoss()

wall, cpu = time.perf_counter(), time.process_time()
for epoch in range(3):
    model.train()
    for batch in text[torch.randperm(len(text))].split(16):
        logits = model(batch[:, :-1])
        loss = criterion(logits.reshape(-1, VOCABULARY), batch[:, 1:].reshape(-1))
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        schedule.step()
    print(f"epoch {epoch}: loss {loss.item():.8f}")
print(f"trained in {time.perf_counter() - wall:.4f} s, {time.process_time() - cpu:.4f} s of CPU")
