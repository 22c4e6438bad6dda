"""Two-layer graph convolution on a synthetic citation network (stochastic block model)."""
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

np.random.seed(4)
torch.manual_seed(4)


def citation_graph(n=700, k=5, n_feat=60, p_in=0.025, p_out=0.004):
    y = np.random.randint(k, size=n)
    same = y[:, None] == y[None, :]
    prob = np.where(same, p_in, p_out)
    upper = np.triu(np.random.rand(n, n) < prob, 1)
    adj = upper | upper.T
    topic = np.random.rand(k, n_feat) < 0.2
    rate = np.where(topic[y], 0.25, 0.05)
    x = (np.random.rand(n, n_feat) < rate).astype(np.float32)
    return torch.from_numpy(x), torch.from_numpy(y), torch.from_numpy(np.argwhere(adj).T.copy())


def normalised_adjacency(edges, n):
    loops = torch.arange(n).repeat(2, 1)
    idx = torch.cat([edges, loops], 1)
    deg = torch.bincount(idx[0], minlength=n).float()
    w = deg[idx[0]].rsqrt() * deg[idx[1]].rsqrt()
    return torch.sparse_coo_tensor(idx, w, (n, n)).coalesce()


class GraphConv(nn.Module):
    def __init__(self, d_in, d_out):
        super().__init__()
        self.lin = nn.Linear(d_in, d_out, bias=False)
        self.bias = nn.Parameter(torch.zeros(d_out))

    def forward(self, a, x):
        return torch.sparse.mm(a, self.lin(x)) + self.bias


class GCN(nn.Module):
    def __init__(self, d_in, hidden, n_cls, dropout=0.7):
        super().__init__()
        self.conv1 = GraphConv(d_in, hidden)
        self.conv2 = GraphConv(hidden, n_cls)
        self.dropout = nn.Dropout(dropout)

    def forward(self, a, x):
        x = F.relu(self.conv1(a, self.dropout(x)))
        return self.conv2(a, self.dropout(x))


x, y, edges = citation_graph()
n = len(y)
a = normalised_adjacency(edges, n)
perm = torch.randperm(n)
train_idx, val_idx, test_idx = perm[:150], perm[150:350], perm[350:]
model = GCN(x.size(1), 32, int(y.max()) + 1)
optimizer = torch.optim.Adam([
    {"params": model.conv1.parameters(), "weight_decay": 5e-4},
    {"params": model.conv2.parameters(), "weight_decay": 0.0},
], lr=0.01)


def train_epoch():
    model.train()
    optimizer.zero_grad()
    loss = F.cross_entropy(model(a, x)[train_idx], y[train_idx])
    loss.backward()
    optimizer.step()
    return loss.item()


@torch.no_grad()
def test():
    pred = model(a, x).argmax(1)
    return [(pred[i] == y[i]).float().mean().item() for i in (train_idx, val_idx, test_idx)]


best_val = best_test = 0.0
for epoch in range(1, 161):
    loss = train_epoch()
    if epoch % 5 == 0:
        train_acc, val_acc, test_acc = test()
        if val_acc > best_val:
            best_val, best_test = val_acc, test_acc
        if epoch % 20 == 0:
            print(f"Epoch: {epoch:03d}, Loss: {loss:.4f}, Train: {train_acc:.4f}, Val: {val_acc:.4f}, Test: {test_acc:.4f}")
print(f"Selected by validation: Val {best_val:.4f}, Test {best_test:.4f}")
