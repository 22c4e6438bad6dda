"""Node regression and classification together on a spatial graph (mean aggregation), full batch, fixed masks."""
import argparse

import numpy as np
import torch
import torch.nn.functional as F
from scipy.spatial import cKDTree
from torch import nn


def spatial_graph(n, seed):
    r = np.random.default_rng(seed)
    pos = r.uniform(0, 1, (n, 2))
    field = np.sin(5 * pos[:, 0]) + np.cos(6 * pos[:, 1])
    zone = np.digitize(np.sin(7 * pos[:, 0] + 3) + pos[:, 1], [-0.3, 0.6])
    edges = cKDTree(pos).query(pos, k=9)[1][:, 1:]
    x = np.column_stack([field + r.normal(0, 1.0, n), np.eye(3)[zone] + r.normal(0, 1.0, (n, 3))])
    return (torch.tensor(x, dtype=torch.float32), torch.tensor(edges), torch.tensor(field, dtype=torch.float32), torch.tensor(zone))


class SAGE(nn.Module):
    def __init__(self, d, h):
        super().__init__()
        self.inp = nn.Linear(d, h)
        self.mix = nn.Linear(2 * h, h)                 # one layer, used three times
        self.reg, self.cls = nn.Linear(h, 1), nn.Linear(h, 3)
        self.log_var = nn.Parameter(torch.zeros(2))    # balance of the two tasks

    def forward(self, x, nb):
        h = torch.relu(self.inp(x))
        for _ in range(3):
            h = F.normalize(torch.relu(self.mix(torch.cat([h, h[nb].mean(1)], 1))), dim=1) * h.size(1) ** 0.5
        return self.reg(h).squeeze(-1), self.cls(h)


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--nodes", type=int, default=900)
    ap.add_argument("--hidden", type=int, default=24)
    ap.add_argument("--epochs", type=int, default=200)
    a = ap.parse_args()
    torch.manual_seed(1)
    x, nb, field, zone = spatial_graph(a.nodes, 1)
    train = torch.rand(a.nodes) < 0.5                   # the others lend their features, not their targets
    net = SAGE(x.size(1), a.hidden)
    opt = torch.optim.Adam(net.parameters(), lr=0.01, weight_decay=1e-3)
    for ep in range(1, a.epochs + 1):
        out_r, out_c = net(x, nb)
        parts = torch.stack([F.mse_loss(out_r[train], field[train]), F.cross_entropy(out_c[train], zone[train])])
        loss = (parts * torch.exp(-net.log_var) + net.log_var).sum()      # falls below zero as the tasks get easy
        opt.zero_grad()
        loss.backward()
        opt.step()
        if ep % 40 == 0:
            with torch.no_grad():
                r, c = net(x, nb)
                err = (r - field)[~train].pow(2).mean() / field[~train].var()
                acc = (c.argmax(1) == zone)[~train].float().mean()
            print(f"epoch {ep} loss {loss.item():+.3f} held-out R2 {1 - err:.3f} zone acc {acc:.3f}")
    raw = 1 - (x[:, 0] - field)[~train].pow(2).mean() / field[~train].var()
    print(f"own noisy reading: R2 {raw:.3f}; own zone columns: acc {(x[:, 1:].argmax(1) == zone)[~train].float().mean():.3f}")


if __name__ == "__main__":
    main()
