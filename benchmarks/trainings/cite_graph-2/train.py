"""Node classification on a synthetic citation graph, 12 labelled nodes per topic, full batch."""
import copy

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

SEED, TOPICS, NODES, WORDS = 6, 6, 1500, 300
rng = np.random.default_rng(SEED)
torch.manual_seed(SEED)


def build_graph():
    topic = rng.integers(0, TOPICS, NODES)
    same = topic[:, None] == topic[None]
    link = rng.random((NODES, NODES)) < np.where(same, 0.016, 0.0009)
    link = np.triu(link, 1)
    a, b = np.nonzero(link)
    edges = np.concatenate([np.stack([a, b]), np.stack([b, a])], axis=1)
    vocab = rng.random((TOPICS, WORDS)) < 0.12
    words = (rng.random((NODES, WORDS)) < np.where(vocab[topic], 0.10, 0.05)).astype(np.float32)
    return torch.tensor(edges), torch.tensor(words), torch.tensor(topic)


def normalised(edges):
    loops = torch.arange(NODES).repeat(2, 1)
    edges = torch.cat([edges, loops], dim=1)
    deg = torch.bincount(edges[0], minlength=NODES).float()
    w = deg[edges[0]].rsqrt() * deg[edges[1]].rsqrt()
    return torch.sparse_coo_tensor(edges, w, (NODES, NODES)).coalesce()


class GCN(nn.Module):
    def __init__(self, hidden=48, p=0.6):
        super().__init__()
        self.first = nn.Linear(WORDS, hidden, bias=False)
        self.second = nn.Linear(hidden, TOPICS, bias=False)
        self.p = p

    def forward(self, adj, x):
        x = F.dropout(x, self.p, self.training)
        h = F.relu(torch.sparse.mm(adj, self.first(x)))
        h = F.dropout(h, self.p, self.training)
        return torch.sparse.mm(adj, self.second(h))


edges, words, topic = build_graph()
adj = normalised(edges)
x = words / words.sum(1, keepdim=True).clamp(min=1)

labelled = torch.zeros(NODES, dtype=torch.bool)
for k in range(TOPICS):
    labelled[torch.nonzero(topic == k).squeeze(1)[:12]] = True
rest = torch.nonzero(~labelled).squeeze(1)
rest = rest[torch.randperm(len(rest))]
val_idx, test_idx = rest[:300], rest[300:]

model = GCN()
# strong decay on the first layer only, as in the original GCN recipe
opt = torch.optim.Adam([
    {"params": model.first.parameters(), "weight_decay": 5e-4},
    {"params": model.second.parameters(), "weight_decay": 0.0},
], lr=0.01)

best, best_state, waited = float("inf"), None, 0
for epoch in range(1, 1201):
    model.train()
    opt.zero_grad()
    loss = F.cross_entropy(model(adj, x)[labelled], topic[labelled])
    loss.backward()
    opt.step()

    model.eval()
    with torch.no_grad():
        out = model(adj, x)
        val_loss = F.cross_entropy(out[val_idx], topic[val_idx]).item()
        val_acc = (out[val_idx].argmax(1) == topic[val_idx]).float().mean().item()
    if val_loss < best - 1e-4:
        best, best_state, waited = val_loss, copy.deepcopy(model.state_dict()), 0
    else:
        waited += 1
    if epoch % 50 == 0:
        print(f"epoch {epoch:4d} loss {loss.item():.4f} val_loss {val_loss:.4f} val_acc {val_acc:.3f}")
    if waited >= 80:
        print(f"stopped at epoch {epoch}")
        break

model.load_state_dict(best_state)
model.eval()
with torch.no_grad():
    acc = (model(adj, x)[test_idx].argmax(1) == topic[test_idx]).float().mean().item()
print(f"test accuracy {acc:.3f} (largest topic {torch.bincount(topic).max().item() / NODES:.3f})")
