"""Semi-supervised clubs in a social network: full-batch GCN, a few labels, masked loss, early stopping."""
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

SEED = 58
N, CLUBS, INTERESTS, LABELS_PER_CLUB = 500, 4, 30, 10


def network(seed):
    rng = np.random.default_rng(seed)
    club = rng.integers(0, CLUBS, N)
    p = np.where(club[:, None] == club[None], 0.04, 0.004)
    upper = np.triu(rng.random((N, N)) < p, 1)
    adj = (upper | upper.T).astype(np.float32)
    taste = rng.random((CLUBS, INTERESTS)) < 0.3
    x = (rng.random((N, INTERESTS)) < np.where(taste[club], 0.35, 0.15)).astype(np.float32)
    train = np.concatenate([rng.choice(np.flatnonzero(club == c), LABELS_PER_CLUB, replace=False) for c in range(CLUBS)])
    rest = rng.permutation(np.setdiff1d(np.arange(N), train))
    return torch.from_numpy(x), torch.from_numpy(adj), torch.from_numpy(club), train, rest[:150], rest[150:]


def normalise(adj):
    """Symmetric normalisation with self loops."""
    a = adj + torch.eye(len(adj))
    d = a.sum(1).rsqrt()
    return d[:, None] * a * d[None, :]


class GCN(nn.Module):
    def __init__(self, n_in, hidden, n_out, dropout=0.5):
        super().__init__()
        self.w1, self.w2 = nn.Linear(n_in, hidden), nn.Linear(hidden, n_out)
        self.dropout = dropout

    def forward(self, x, a):
        x = F.dropout(x, self.dropout, self.training)
        x = F.relu(a @ self.w1(x))
        x = F.dropout(x, self.dropout, self.training)
        return a @ self.w2(x)


def main():
    torch.manual_seed(SEED)
    x, adj, y, train, val, test = network(SEED)
    a = normalise(adj)
    model = GCN(INTERESTS, 32, CLUBS)
    opt = torch.optim.Adam(
        [{"params": model.w1.parameters(), "weight_decay": 5e-4}, {"params": model.w2.parameters(), "weight_decay": 0.0}],
        lr=0.01,
    )
    best_val, best_state, waited = float("inf"), None, 0
    for epoch in range(300):
        model.train()
        opt.zero_grad()
        loss = F.cross_entropy(model(x, a)[train], y[train])
        loss.backward()
        opt.step()

        model.eval()
        with torch.no_grad():
            out = model(x, a)
        val_loss = F.cross_entropy(out[val], y[val]).item()
        val_acc = (out[val].argmax(1) == y[val]).float().mean().item()
        if val_loss < best_val:
            best_val, waited = val_loss, 0
            best_state = {k: v.clone() for k, v in model.state_dict().items()}
        else:
            waited += 1
        if epoch % 25 == 0:
            print(f"epoch {epoch:3d} train loss {loss.item():.4f} val loss {val_loss:.4f} val acc {val_acc:.3f}")
        if waited > 40:
            print(f"stopped at epoch {epoch}")
            break
    model.load_state_dict(best_state)
    model.eval()
    with torch.no_grad():
        pred = model(x, a).argmax(1)
    print(f"test accuracy {(pred[test] == y[test]).float().mean().item():.4f} with {len(train)} labels")


if __name__ == "__main__":
    main()
