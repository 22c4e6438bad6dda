"""Graph attention on a road-like grid: few labelled nodes, the whole graph in one batch, DropEdge, early stopping."""
import copy

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

SIDE = 20


def road_map(seed):
    rng = np.random.default_rng(seed)
    n = SIDE * SIDE
    yy, xx = np.divmod(np.arange(n), SIDE)
    centres = rng.uniform(0, SIDE, (4, 2))
    district = ((yy[:, None] - centres[:, 0]) ** 2 + (xx[:, None] - centres[:, 1]) ** 2).argmin(1)
    edges = []
    for i in range(n):
        if xx[i] < SIDE - 1 and rng.random() < 0.9:
            edges.append((i, i + 1))
        if yy[i] < SIDE - 1 and rng.random() < 0.9:
            edges.append((i, i + SIDE))
    src, dst = np.array(edges).T
    edge_index = torch.tensor(np.stack([np.concatenate([src, dst]), np.concatenate([dst, src])]))
    x = np.eye(4)[district] @ rng.normal(0, 1, (4, 8)) + rng.normal(0, 2.0, (n, 8))
    return torch.tensor(x, dtype=torch.float32), edge_index, torch.tensor(district)


class GraphAttention(nn.Module):
    def __init__(self, n_in, n_out, heads):
        super().__init__()
        self.heads = heads
        self.proj = nn.Linear(n_in, heads * n_out, bias=False)
        self.score = nn.Parameter(torch.empty(2, heads, n_out))
        self.skip = nn.Linear(n_in, heads * n_out)
        nn.init.xavier_uniform_(self.score)

    def forward(self, x, edges):
        src, dst = edges
        h = self.proj(x).view(len(x), self.heads, -1)
        e = F.leaky_relu((h * self.score[0]).sum(-1)[src] + (h * self.score[1]).sum(-1)[dst], 0.2)
        e = (e - e.max()).exp()
        total = torch.zeros(len(x), self.heads).index_add(0, dst, e) + 1e-9
        weight = e / total[dst]
        mixed = torch.zeros_like(h).index_add(0, dst, weight.unsqueeze(-1) * h[src])
        return mixed.flatten(1) + self.skip(x)


class RoadNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList([GraphAttention(8, 16, 4), GraphAttention(64, 16, 4), GraphAttention(64, 16, 4)])
        self.out = nn.Linear(64, 4)

    def forward(self, x, edges):
        for layer in self.layers:
            x = F.dropout(F.elu(layer(x, edges)), 0.3, self.training)
        return self.out(x)


def drop_edges(edges, share):
    return edges[:, torch.rand(edges.size(1)) > share]


def main():
    torch.manual_seed(6)
    x, edges, y = road_map(2)
    x = (x - x.mean(0)) / x.std(0)
    order = torch.randperm(len(y))
    train, val, test = order[:80], order[80:230], order[230:]
    model = RoadNet()
    optimizer = torch.optim.AdamW(model.parameters(), lr=5e-3, weight_decay=5e-3)
    best, best_state, waited = 0.0, None, 0
    for epoch in range(1, 151):
        model.train()
        loss = F.cross_entropy(model(x, drop_edges(edges, 0.2))[train], y[train], label_smoothing=0.1)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        model.eval()
        with torch.no_grad():
            guess = model(x, edges).argmax(1)
        score = (guess[val] == y[val]).float().mean().item()
        if score > best:
            best, best_state, waited = score, copy.deepcopy(model.state_dict()), 0
        else:
            waited += 1
        if epoch % 25 == 0:
            print(f"epoch {epoch} loss {loss.item():.3f} val {score:.3f}")
        if waited > 60:
            break
    model.load_state_dict(best_state)
    model.eval()
    with torch.no_grad():
        print(f"test accuracy {(model(x, edges).argmax(1)[test] == y[test]).float().mean().item():.3f}, best val {best:.3f}")


if __name__ == "__main__":
    main()
