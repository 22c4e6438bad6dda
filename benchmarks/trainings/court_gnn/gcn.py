"""Semi-supervised node classification on a generated citation graph (stochastic block model), full batch.

Only 6% of the nodes carry a label; features are weak, so neighbours have to be used.
DropEdge in training, label smoothing, model averaging over the last epochs."""
import argparse
import copy

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn


def block_graph(n, classes, p_in, p_out, rng):
    y = rng.integers(0, classes, n)
    prob = np.where(y[:, None] == y[None, :], p_in, p_out)
    upper = np.triu(rng.random((n, n)) < prob, 1)
    src, dst = np.nonzero(upper)
    edges = np.stack([np.concatenate([src, dst]), np.concatenate([dst, src])])
    means = rng.normal(0, 0.45, (classes, 24))
    x = means[y] + rng.normal(0, 1.0, (n, 24))
    return torch.tensor(x, dtype=torch.float32), torch.tensor(y), torch.tensor(edges)


def propagate(h, edges, n):
    """Mean over the neighbours; a node without any keeps zeros."""
    out = torch.zeros_like(h).index_add_(0, edges[1], h[edges[0]])
    degree = torch.bincount(edges[1], minlength=n).clamp(min=1).unsqueeze(1)
    return out / degree


class SageLayer(nn.Module):
    def __init__(self, i, o):
        super().__init__()
        self.own, self.nbr = nn.Linear(i, o), nn.Linear(i, o, bias=False)

    def forward(self, h, edges):
        return self.own(h) + self.nbr(propagate(h, edges, len(h)))


class Net(nn.Module):
    def __init__(self, i, h, o):
        super().__init__()
        self.l1, self.l2, self.l3 = SageLayer(i, h), SageLayer(h, h), SageLayer(h, o)

    def forward(self, x, edges):
        x = F.dropout(x, 0.3, self.training)
        h = F.relu(self.l1(x, edges))
        h = F.dropout(h, 0.5, self.training)
        h = h + F.relu(self.l2(h, edges))
        return self.l3(F.dropout(h, 0.5, self.training), edges)


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--epochs", type=int, default=150)
    ap.add_argument("--seed", type=int, default=7)
    a = ap.parse_args()
    rng = np.random.default_rng(a.seed)
    torch.manual_seed(a.seed)
    n, classes = 900, 5
    x, y, edges = block_graph(n, classes, 0.035, 0.003, rng)
    perm = torch.from_numpy(rng.permutation(n))
    train, val, test = perm[:54], perm[54:254], perm[254:]
    print(f"{n} nodes, {edges.size(1) // 2} edges, {len(train)} labels; "
          f"largest class {torch.bincount(y[test]).max().item() / len(test):.3f}")

    net = Net(x.size(1), 48, classes)
    opt = torch.optim.Adam(net.parameters(), lr=0.01, weight_decay=5e-4)
    mean_net, averaged = copy.deepcopy(net), 0
    for epoch in range(1, a.epochs + 1):
        net.train()
        keep = torch.rand(edges.size(1)) > 0.2
        logits = net(x, edges[:, keep])
        loss = F.cross_entropy(logits[train], y[train], label_smoothing=0.1)
        opt.zero_grad()
        loss.backward()
        opt.step()
        if epoch > a.epochs - 30:
            averaged += 1
            with torch.no_grad():
                for m, p in zip(mean_net.parameters(), net.parameters()):
                    m.lerp_(p, 1.0 / averaged)
        if epoch % 15 == 0:
            net.eval()
            with torch.no_grad():
                guess = net(x, edges).argmax(1)
            print(f"epoch {epoch:3d} loss {loss.item():.4f} train {(guess[train] == y[train]).float().mean():.3f} "
                  f"val {(guess[val] == y[val]).float().mean():.3f}")
    mean_net.eval()
    with torch.no_grad():
        guess = mean_net(x, edges).argmax(1)
        features_only = net.eval()(x, edges[:, :0]).argmax(1)
    print(f"test accuracy (averaged weights) {(guess[test] == y[test]).float().mean():.3f}; "
          f"without edges {(features_only[test] == y[test]).float().mean():.3f}")


if __name__ == "__main__":
    main()
