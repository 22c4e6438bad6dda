"""Node classification on a stochastic block graph with weak features, using a two-layer graph attention network."""
import torch
import torch.nn.functional as F
from torch import nn


def block_graph(n=420, k=6, p_in=0.09, p_out=0.008, feats=24, gen=None):
    y = torch.randint(0, k, (n,), generator=gen)
    same = (y[:, None] == y[None]).float()
    prob = same * p_in + (1 - same) * p_out
    upper = (torch.rand(n, n, generator=gen) < prob).float().triu(1)
    adj = upper + upper.T + torch.eye(n)
    centre = torch.randn(k, feats, generator=gen) * 0.45
    x = centre[y] + torch.randn(n, feats, generator=gen)
    return x, adj, y


class GraphAttention(nn.Module):
    def __init__(self, d_in, d_out, heads):
        super().__init__()
        self.heads, self.d_out = heads, d_out
        self.lin = nn.Linear(d_in, heads * d_out, bias=False)
        self.src = nn.Parameter(torch.empty(heads, d_out))
        self.dst = nn.Parameter(torch.empty(heads, d_out))
        nn.init.xavier_uniform_(self.src)
        nn.init.xavier_uniform_(self.dst)

    def forward(self, x, adj):
        h = self.lin(x).view(-1, self.heads, self.d_out)
        s = (h * self.src).sum(-1)
        t = (h * self.dst).sum(-1)
        e = F.leaky_relu(s[:, None] + t[None], 0.2)
        e = e.masked_fill(adj[..., None] == 0, float("-inf"))
        w = e.softmax(dim=1)
        return torch.einsum("ijh,jhd->ihd", w, h)


class GAT(nn.Module):
    def __init__(self, feats, classes, hidden=8, heads=4):
        super().__init__()
        self.a = GraphAttention(feats, hidden, heads)
        self.b = GraphAttention(hidden * heads, classes, heads)
        self.drop = nn.Dropout(0.3)

    def forward(self, x, adj):
        h = F.elu(self.a(self.drop(x), adj).flatten(1))
        return self.b(self.drop(h), adj).mean(1)


def split(n, gen):
    order = torch.randperm(n, generator=gen)
    return order[:120], order[120:200], order[200:]


def main():
    torch.manual_seed(59)
    gen = torch.Generator().manual_seed(59)
    x, adj, y = block_graph(gen=gen)
    tr, va, te = split(len(y), gen)
    print(f"{len(y)} nodes, {int(adj.sum() - len(y)) // 2} edges, train {len(tr)}, majority {torch.bincount(y[te]).max().item() / len(te):.3f}")

    model = GAT(x.shape[1], int(y.max()) + 1)
    optimizer = torch.optim.Adam(model.parameters(), lr=1.0, weight_decay=5e-4)

    best_val, test_at_best = 0.0, 0.0
    for epoch in range(1, 121):
        model.train()
        logits = model(x, adj)
        loss = F.cross_entropy(logits[tr], y[tr])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()

        model.eval()
        with torch.no_grad():
            guess = model(x, adj).argmax(1)
        acc = {k: (guess[i] == y[i]).float().mean().item() for k, i in (("train", tr), ("val", va), ("test", te))}
        if acc["val"] > best_val:
            best_val, test_at_best = acc["val"], acc["test"]
        if epoch % 12 == 0:
            print(f"epoch {epoch:3d} loss {loss.item():10.4f} " + " ".join(f"{k} {v:.3f}" for k, v in acc.items()))
    print(f"best val {best_val:.3f}, test at that epoch {test_at_best:.3f}")


if __name__ == "__main__":
    main()
