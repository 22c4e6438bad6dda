"""Float16 with a gradient scaler done by the book: unscale before clipping, skipped steps at the start are its search."""

import torch
import torch.nn.functional as F
from sklearn.datasets import make_blobs
from torch import nn

torch.manual_seed(24)
x, y = make_blobs(3000, n_features=12, centers=15, cluster_std=3.0, center_box=(-6, 6), random_state=24)
x = torch.tensor(x, dtype=torch.float32)
x = (x - x[:2400].mean(0)) / x[:2400].std(0)
y = torch.tensor(y)
x_train, y_train, x_test, y_test = x[:2400], y[:2400], x[2400:], y[2400:]


class CosineClassifier(nn.Module):
    """Scores are cosines times a learned scale, computed in float32 outside autocast."""

    def __init__(self, inputs=12, width=96, classes=15):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(inputs, width), nn.GELU(), nn.Linear(width, width), nn.GELU())
        self.centres = nn.Parameter(torch.randn(classes, width) * 0.1)
        self.log_scale = nn.Parameter(torch.tensor(2.0))

    def forward(self, x):
        h = self.body(x)
        with torch.autocast("cpu", enabled=False):
            h, c = F.normalize(h.float(), dim=-1), F.normalize(self.centres, dim=-1)
            return self.log_scale.exp() * h @ c.T


model = CosineClassifier()
matrices = [p for p in model.parameters() if p.dim() == 2]
others = [p for p in model.parameters() if p.dim() != 2]
optimizer = torch.optim.AdamW(
    [{"params": matrices, "weight_decay": 0.05}, {"params": others, "weight_decay": 0.0}], lr=3e-3
)
scaler = torch.amp.GradScaler("cpu", init_scale=2.0**24)  # too high at first: it finds its own level
skipped = 0


@torch.no_grad()
def test_accuracy():
    model.eval()
    with torch.autocast("cpu", dtype=torch.float16):
        return (model(x_test).argmax(1) == y_test).float().mean().item()


for epoch in range(8):
    model.train()
    total, batches = 0.0, torch.randperm(len(x_train)).split(48)
    for rows in batches:
        optimizer.zero_grad(set_to_none=True)
        with torch.autocast("cpu", dtype=torch.float16):
            logits = model(x_train[rows])
        loss = F.cross_entropy(logits, y_train[rows], label_smoothing=0.1)
        scaler.scale(loss).backward()
        scaler.unscale_(optimizer)
        nn.utils.clip_grad_norm_(model.parameters(), 2.0)
        before = scaler.get_scale()
        scaler.step(optimizer)
        scaler.update()
        skipped += scaler.get_scale() < before
        total += loss.item()
    print(
        f"epoch {epoch} loss {total / len(batches):.4f} test acc {test_accuracy():.3f} "
        f"scale 2^{torch.tensor(scaler.get_scale()).log2().item():.0f} steps skipped so far {skipped}"
    )
