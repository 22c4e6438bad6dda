"""Graph attention network on a simulated citation network (dense adjacency)."""
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

SEED = 42
N_PAPERS, N_TOPICS, N_WORDS = 600, 5, 60


def make_network(seed):
    """Stochastic block model; each paper has a noisy bag of words of its topic. A few hubs cite everywhere."""
    rng = np.random.default_rng(seed)
    topic = rng.integers(0, N_TOPICS, N_PAPERS)
    same = topic[:, None] == topic[None, :]
    prob = np.where(same, 0.03, 0.004)
    adj = np.triu(rng.random((N_PAPERS, N_PAPERS)) < prob, 1)
    hubs = rng.choice(N_PAPERS, 20, replace=False)
    adj[hubs] |= rng.random((20, N_PAPERS)) < 0.05
    adj = adj | adj.T
    np.fill_diagonal(adj, True)
    word_p = rng.dirichlet(np.ones(N_WORDS) * 0.3, N_TOPICS) * 0.55 + 0.45 / N_WORDS
    words = np.stack([rng.multinomial(12, word_p[k]) for k in topic]).astype(np.float32)
    order = rng.permutation(N_PAPERS)
    masks = {}
    for name, idx in (("train", order[:60]), ("val", order[60:200]), ("test", order[200:])):
        m = np.zeros(N_PAPERS, dtype=bool)
        m[idx] = True
        masks[name] = torch.from_numpy(m)
    x = torch.from_numpy(words / words.sum(1, keepdims=True)) * 10
    return x, torch.from_numpy(adj), torch.from_numpy(topic), masks


class GraphAttention(nn.Module):
    def __init__(self, n_in, n_out, heads=1):
        super().__init__()
        self.heads, self.n_out = heads, n_out
        self.lin = nn.Linear(n_in, heads * n_out, bias=False)
        self.a_src = nn.Parameter(torch.empty(heads, n_out))
        self.a_dst = nn.Parameter(torch.empty(heads, n_out))
        nn.init.xavier_uniform_(self.a_src)
        nn.init.xavier_uniform_(self.a_dst)

    def forward(self, x, adj):
        h = self.lin(x).view(-1, self.heads, self.n_out)
        score = (h * self.a_dst).sum(-1)[:, None] + (h * self.a_src).sum(-1)[None, :]
        score = F.leaky_relu(score, 0.2).masked_fill(~adj[:, :, None], float("-inf"))
        attention = torch.softmax(score, dim=1)
        attention = attention.masked_fill(~adj[:, :, None], 0.0)
        return torch.einsum("ijh,jhf->ihf", attention, h)


class GAT(nn.Module):
    def __init__(self, n_in, n_classes, hidden=8, heads=4):
        super().__init__()
        self.g1 = GraphAttention(n_in, hidden, heads)
        self.g2 = GraphAttention(hidden * heads, n_classes)

    def forward(self, x, adj):
        x = F.dropout(x, 0.6)
        x = F.elu(self.g1(x, adj).flatten(1))
        x = F.dropout(x, 0.6)
        return self.g2(x, adj).squeeze(1)


def main():
    torch.manual_seed(SEED)
    x, adj, y, masks = make_network(SEED)
    net = GAT(N_WORDS, N_TOPICS)
    opt = torch.optim.Adam(net.parameters(), lr=5e-3, weight_decay=5e-4)
    best_val, test_at_best = 0.0, 0.0
    for epoch in range(1, 121):
        net.train()
        opt.zero_grad()
        out = net(x, adj)
        loss = F.cross_entropy(out[masks["train"]], y[masks["train"]])
        loss.backward()
        opt.step()

        net.eval()
        with torch.no_grad():
            pred = net(x, adj).argmax(1)
        acc = {k: (pred[m] == y[m]).float().mean().item() for k, m in masks.items()}
        if acc["val"] > best_val:
            best_val, test_at_best = acc["val"], acc["test"]
        if epoch % 20 == 0:
            print(f"epoch {epoch:3d} loss {loss.item():.4f} train {acc['train']:.3f} val {acc['val']:.3f} test {acc['test']:.3f}")
    print(f"best val {best_val:.3f}, test at best val {test_at_best:.3f}")


if __name__ == "__main__":
    main()
