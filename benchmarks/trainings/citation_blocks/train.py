"""Semi-supervised node classification: one graph, full-batch GCN, loss on 5% of the nodes only, early stopping."""
import copy

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(30)
rng = np.random.default_rng(30)

N, K, FEATS = 900, 5, 32


def block_graph():
    y = rng.integers(0, K, N)
    prob = np.where(y[:, None] == y[None], 0.03, 0.004)
    upper = np.triu(rng.random((N, N)) < prob, 1)
    adj = (upper | upper.T).astype("float32")
    centres = rng.normal(size=(K, FEATS))
    x = 0.25 * centres[y] + rng.normal(size=(N, FEATS))
    return torch.tensor(adj), torch.tensor(x, dtype=torch.float32), torch.tensor(y)


def normalise(adj):
    adj = adj + torch.eye(len(adj))
    inv = adj.sum(1).rsqrt()
    return (inv[:, None] * adj * inv[None]).to_sparse().coalesce()


class GCN(nn.Module):
    def __init__(self, hidden=32, p=0.5):
        super().__init__()
        self.w1 = nn.Linear(FEATS, hidden)
        self.w2 = nn.Linear(hidden, K)
        self.p = p

    def forward(self, a, x):
        h = F.dropout(x, self.p, self.training)
        h = F.relu(a @ self.w1(h))
        h = F.dropout(h, self.p, self.training)
        return a @ self.w2(h)


adj, x, y = block_graph()
a_hat = normalise(adj)
order = torch.randperm(N)
train_mask, val_mask, test_mask = (torch.zeros(N, dtype=torch.bool) for _ in range(3))
train_mask[order[:45]] = True
val_mask[order[45:245]] = True
test_mask[order[245:]] = True

model = GCN()
# the first layer alone is decayed, as in the original recipe
optimizer = torch.optim.Adam(
    [
        {"params": model.w1.parameters(), "weight_decay": 5e-3},
        {"params": model.w2.parameters(), "weight_decay": 0.0},
    ],
    lr=0.01,
)
print(f"{int(adj.sum()) // 2} edges, {int(train_mask.sum())} labelled nodes, majority {y.bincount().max() / N:.3f}")

best, best_state, patience = 0.0, None, 0
for epoch in range(1, 801):
    model.train()
    loss = F.cross_entropy(model(a_hat, x)[train_mask], y[train_mask])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()

    model.eval()
    with torch.no_grad():
        guess = model(a_hat, x).argmax(1)
    val_acc = (guess == y)[val_mask].float().mean().item()
    if val_acc > best:
        best, best_state, patience = val_acc, copy.deepcopy(model.state_dict()), 0
    else:
        patience += 1
    if epoch % 50 == 0:
        print(f"epoch {epoch:3d} loss {loss.item():.4f} val acc {val_acc:.3f} best {best:.3f}")
    if patience >= 250:
        print(f"no gain for {patience} epochs, stopping at {epoch}")
        break

model.load_state_dict(best_state)
model.eval()
with torch.no_grad():
    test_acc = (model(a_hat, x).argmax(1) == y)[test_mask].float().mean().item()
print(f"test acc {test_acc:.3f}")
