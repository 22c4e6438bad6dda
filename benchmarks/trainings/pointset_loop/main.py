# Count the clusters in a point cloud (1..5) with a small set transformer, plain training loop.
import time

import torch
import torch.nn as nn

SEED = 123
N_POINTS = 24
MAX_CLUSTERS = 5
BATCH = 48
STEPS_PER_EPOCH = 30
EPOCHS = 7
LR = 4e-2

gen = torch.Generator().manual_seed(SEED)


def sample_clouds(n):
    k = torch.randint(1, MAX_CLUSTERS + 1, (n,), generator=gen)
    centres = torch.rand(n, MAX_CLUSTERS, 2, generator=gen) * 6 - 3
    # push the centres apart a little so that they rarely fall onto each other
    for _ in range(5):
        diff = centres[:, :, None] - centres[:, None]
        dist = diff.norm(dim=-1, keepdim=True).clamp(min=1e-3)
        centres = centres + (0.3 * diff / dist * (dist < 2.0)).sum(2)
    pick = (torch.rand(n, N_POINTS, generator=gen) * k[:, None]).long()
    pick[:, :MAX_CLUSTERS] = torch.arange(MAX_CLUSTERS)[None] % k[:, None]
    points = centres.gather(1, pick[:, :, None].expand(-1, -1, 2))
    points = points + 0.15 * torch.randn(n, N_POINTS, 2, generator=gen)
    return points, k - 1


class SetBlock(nn.Module):
    def __init__(self, dim, heads):
        super().__init__()
        self.norm1 = nn.LayerNorm(dim)
        self.att = nn.MultiheadAttention(dim, heads, batch_first=True)
        self.norm2 = nn.LayerNorm(dim)
        self.ff = nn.Sequential(nn.Linear(dim, 2 * dim), nn.GELU(), nn.Linear(2 * dim, dim))

    def forward(self, x):
        h = self.norm1(x)
        x = x + self.att(h, h, h, need_weights=False)[0]
        return x + self.ff(self.norm2(x))


class ClusterCounter(nn.Module):
    def __init__(self, dim=32):
        super().__init__()
        self.lift = nn.Sequential(nn.Linear(2, dim), nn.GELU(), nn.Linear(dim, dim))
        self.blocks = nn.ModuleList([SetBlock(dim, 4), SetBlock(dim, 4)])
        self.head = nn.Sequential(nn.LayerNorm(dim), nn.Linear(dim, MAX_CLUSTERS))

    def forward(self, points):
        x = self.lift(points)
        for block in self.blocks:
            x = block(x)
        return self.head(x.mean(dim=1))


torch.manual_seed(SEED)
model = ClusterCounter()
optimizer = torch.optim.Adam(model.parameters(), lr=LR)
loss_fn = nn.CrossEntropyLoss()
val_x, val_y = sample_clouds(500)

start = time.time()
for epoch in range(EPOCHS):
    model.train()
    losses = []
    for _ in range(STEPS_PER_EPOCH):
        x, y = sample_clouds(BATCH)
        loss = loss_fn(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    model.eval()
    with torch.no_grad():
        logits = model(val_x)
    acc = (logits.argmax(1) == val_y).float().mean().item()
    off = (logits.argmax(1) - val_y).abs().float().mean().item()
    print(f"epoch {epoch + 1:2d}/{EPOCHS}  loss {sum(losses) / len(losses):.4f}  "
          f"val loss {loss_fn(logits, val_y).item():.4f}  val acc {acc:.3f}  mean miscount {off:.3f}")
print(f"done in {time.time() - start:.1f}s")
