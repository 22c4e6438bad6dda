"""A small GPT of bell-ringing rows: every row follows from the one before by a fixed rule of the method."""

import torch
from torch import nn
from torch.nn import functional as F
from torch.utils.data import DataLoader, Dataset

BELLS, ROWS = 6, 4
torch.manual_seed(47)


def touch():
    """Plain hunt from a random row: neighbours swap, in turn from the first and from the second place."""
    row = torch.randperm(BELLS)
    out = [row]
    for number in range(ROWS - 1):
        row = row.clone()
        for i in range(number % 2, BELLS - 1, 2):
            row[[i, i + 1]] = row[[i + 1, i]]
        out.append(row)
    return torch.cat(out)


class Touches(Dataset):
    def __init__(self, n):
        self.rows = torch.stack([touch() for _ in range(n)])

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, i):
        row = self.rows[i]
        return row[:-1], row[1:]


class BellGPT(nn.Module):
    def __init__(self, width=64, heads=4, layers=2, context=BELLS * ROWS):
        super().__init__()
        self.bell = nn.Embedding(BELLS, width)
        self.place = nn.Embedding(context, width)
        layer = nn.TransformerEncoderLayer(
            width, heads, 2 * width, dropout=0.0, activation="gelu", batch_first=True, norm_first=True
        )
        self.blocks = nn.TransformerEncoder(layer, layers, nn.LayerNorm(width), enable_nested_tensor=False)
        self.head = nn.Linear(width, BELLS)

    def forward(self, ids, labels=None):
        t = ids.shape[1]
        mask = nn.Transformer.generate_square_subsequent_mask(t)
        h = self.bell(ids) + self.place.weight[:t]
        logits = self.head(self.blocks(h, mask=mask, is_causal=True))
        if labels is None:
            return logits
        # predict the next bell
        loss = F.cross_entropy(logits[:, :-1].reshape(-1, BELLS), labels[:, 1:].reshape(-1))
        return logits, loss


@torch.no_grad()
def ring(model, first_rows):
    """Complete touches from their first row, one bell at a time."""
    model.eval()
    ids = first_rows
    while ids.shape[1] < BELLS * ROWS:
        ids = torch.cat([ids, model(ids)[:, -1].argmax(-1, keepdim=True)], dim=1)
    return ids


train = DataLoader(Touches(1500), batch_size=50, shuffle=True)
test = Touches(200).rows
model = BellGPT()
optimizer = torch.optim.AdamW(model.parameters(), lr=2e-3)
scheduler = torch.optim.lr_scheduler.OneCycleLR(optimizer, 2e-3, epochs=8, steps_per_epoch=len(train))
for epoch in range(8):
    model.train()
    total = 0.0
    for x, y in train:
        _, loss = model(x, labels=y)
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        scheduler.step()
        total += loss.item()
    made = ring(model, test[:, :BELLS])
    right = (made[:, BELLS:] == test[:, BELLS:]).float().mean().item()
    print(f"epoch {epoch} loss {total / len(train):.4f} bells right when ringing on {right:.3f}")
