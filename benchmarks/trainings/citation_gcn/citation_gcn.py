"""Two-layer GCN on a stochastic block model, written with sparse matrices."""

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F


def block_model(n=600, classes=4, p_in=0.035, p_out=0.006, features=32, seed=0):
    rng = np.random.default_rng(seed)
    sizes = rng.choice(classes, n, p=[0.55, 0.25, 0.12, 0.08])
    same = sizes[:, None] == sizes[None, :]
    edges = rng.random((n, n)) < np.where(same, p_in, p_out)
    adj = np.triu(edges, 1)
    adj = (adj + adj.T).astype(np.float32)
    means = rng.normal(0, 0.45, (classes, features))
    x = means[sizes] + rng.normal(0, 1, (n, features))
    return torch.tensor(adj), torch.tensor(x, dtype=torch.float32), torch.tensor(sizes)


def normalized(adj):
    a = adj + torch.eye(len(adj))
    d = a.sum(1).rsqrt()
    return (d[:, None] * a * d[None, :]).to_sparse()


class GraphConv(nn.Module):
    def __init__(self, n_in, n_out):
        super().__init__()
        self.weight = nn.Parameter(torch.empty(n_in, n_out))
        self.bias = nn.Parameter(torch.zeros(n_out))
        nn.init.xavier_uniform_(self.weight)

    def forward(self, x, a_hat):
        return torch.sparse.mm(a_hat, x @ self.weight) + self.bias


class GCN(nn.Module):
    def __init__(self, n_in, hidden, classes, dropout=0.5):
        super().__init__()
        self.gc1 = GraphConv(n_in, hidden)
        self.gc2 = GraphConv(hidden, classes)
        self.dropout = dropout

    def forward(self, x, a_hat):
        x = F.relu(self.gc1(x, a_hat))
        x = F.dropout(x, self.dropout)
        return F.log_softmax(self.gc2(x, a_hat), dim=0)


def split_masks(n, n_train=120, n_val=180, seed=0):
    perm = torch.randperm(n, generator=torch.Generator().manual_seed(seed))
    masks = torch.zeros(3, n, dtype=torch.bool)
    masks[0, perm[:n_train]] = True
    masks[1, perm[n_train:n_train + n_val]] = True
    masks[2, perm[n_train + n_val:]] = True
    return masks


@torch.no_grad()
def accuracy(model, x, a_hat, y, mask):
    model.eval()
    return (model(x, a_hat)[mask].argmax(1) == y[mask]).float().mean().item()


def main():
    torch.manual_seed(0)
    adj, x, y = block_model()
    a_hat = normalized(adj)
    train_mask, val_mask, test_mask = split_masks(len(y))
    model = GCN(x.shape[1], 32, int(y.max()) + 1)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01, weight_decay=5e-4)
    best_val, test_at_best = 0.0, 0.0
    for epoch in range(120):
        model.train()
        optimizer.zero_grad()
        out = model(x, a_hat)
        loss = F.nll_loss(out[train_mask], y[train_mask])
        loss.backward()
        optimizer.step()
        val = accuracy(model, x, a_hat, y, val_mask)
        if val > best_val:
            best_val, test_at_best = val, accuracy(model, x, a_hat, y, test_mask)
        if epoch % 20 == 0 or epoch == 119:
            print(f"epoch {epoch:3d} loss {loss.item():.4f} val {val:.3f}")
    print(f"test accuracy at best validation {test_at_best:.3f} (largest class {y.bincount().max() / len(y):.3f})")


if __name__ == "__main__":
    main()
