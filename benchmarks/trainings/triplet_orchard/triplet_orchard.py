"""Triplet margin loss on the hardest pairs of a batch: it stays near its margin for long while the recall rises."""

import torch
import torch.nn.functional as F
from sklearn.datasets import make_classification
from torch import nn

torch.manual_seed(61)
TREES, PER_BATCH_CLASS = 12, 8

points, tree = make_classification(
    n_samples=2400, n_features=60, n_informative=10, n_classes=TREES, n_clusters_per_class=1, class_sep=2.2, random_state=61
)
points = torch.tensor(points, dtype=torch.float32)
tree = torch.tensor(tree)
train = torch.arange(0, 1600)
query, gallery = torch.arange(1600, 2000), torch.arange(2000, 2400)
points = (points - points[train].mean(0)) / points[train].std(0)
by_tree = [train[tree[train] == label] for label in range(TREES)]


def balanced_batch():
    """The same number of rows of six trees: a usual sampler for metric learning, not a data loader."""
    chosen = torch.randperm(TREES)[:6].tolist()
    rows = torch.cat([by_tree[c][torch.randint(0, len(by_tree[c]), (PER_BATCH_CLASS,))] for c in chosen])
    return points[rows], tree[rows]


class Embedder(nn.Module):
    def __init__(self, inputs=60, out=16):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(inputs, 128), nn.PReLU(), nn.Linear(128, out, bias=False))

    def forward(self, x):
        return F.normalize(self.layers(x), dim=1)


def batch_hard(embedding, label, margin=0.3):
    distance = torch.cdist(embedding, embedding)
    same = label.unsqueeze(0) == label.unsqueeze(1)
    hardest_positive = distance.masked_fill(~same, 0.0).max(1).values
    hardest_negative = distance.masked_fill(same, 9.0).min(1).values
    return F.relu(hardest_positive - hardest_negative + margin).mean()


@torch.no_grad()
def recall_at_1(model):
    model.eval()
    nearest = torch.cdist(model(points[query]), model(points[gallery])).argmin(1)
    return (tree[gallery][nearest] == tree[query]).float().mean().item()


model = Embedder()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
raw = torch.cdist(points[query], points[gallery]).argmin(1)
print(f"recall on the raw inputs {(tree[gallery][raw] == tree[query]).float().mean().item():.3f}, chance {1 / TREES:.3f}")
print(f"recall before training {recall_at_1(model):.3f}")

running = 0.0
for step in range(1, 801):
    model.train()
    x, label = balanced_batch()
    loss = batch_hard(model(x), label)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    running = loss.item() if step == 1 else 0.95 * running + 0.05 * loss.item()
    if step % 160 == 0:
        print(f"step {step:3d} loss {running:.4f} recall@1 {recall_at_1(model):.3f}")
