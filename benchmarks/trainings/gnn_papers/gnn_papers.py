"""GCN for node classification on a stochastic block model with noisy features."""
import argparse

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F


def citation_graph(n=600, classes=5, seed=0):
    rng = np.random.default_rng(seed)
    label = rng.integers(0, classes, n)
    same = label[:, None] == label[None, :]
    prob = np.where(same, 0.03, 0.003)
    upper = np.triu(rng.random((n, n)) < prob, 1)
    adjacency = (upper | upper.T).astype(np.float32)
    centres = rng.normal(0, 0.5, (classes, 32))
    features = centres[label] + rng.normal(0, 1.0, (n, 32))
    return torch.tensor(adjacency), torch.tensor(features, dtype=torch.float32), torch.tensor(label)


def normalise(adjacency):
    a = adjacency + torch.eye(len(adjacency))
    d = a.sum(1).pow(-0.5)
    return d[:, None] * a * d[None, :]


class GraphConv(nn.Module):
    def __init__(self, n_in, n_out):
        super().__init__()
        self.weight = nn.Parameter(torch.empty(n_in, n_out))
        self.bias = nn.Parameter(torch.zeros(n_out))
        nn.init.xavier_uniform_(self.weight)

    def forward(self, x, a_hat):
        return a_hat @ (x @ self.weight) + self.bias


class GCN(nn.Module):
    def __init__(self, n_features, hidden, n_classes, dropout):
        super().__init__()
        self.conv1 = GraphConv(n_features, hidden)
        self.conv2 = GraphConv(hidden, n_classes)
        self.dropout = dropout

    def forward(self, x, a_hat):
        x = F.relu(self.conv1(x, a_hat))
        x = F.dropout(x, self.dropout, training=self.training)
        return F.log_softmax(self.conv2(x, a_hat), dim=0)


def accuracy(output, labels, mask):
    return (output[mask].argmax(1) == labels[mask]).float().mean().item()


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--epochs", type=int, default=200)
    p.add_argument("--hidden", type=int, default=32)
    p.add_argument("--dropout", type=float, default=0.5)
    p.add_argument("--lr", type=float, default=0.01)
    p.add_argument("--l2", type=float, default=5e-4)
    args = p.parse_args()
    torch.manual_seed(42)
    adjacency, x, y = citation_graph()
    a_hat = normalise(adjacency)
    order = torch.randperm(len(y))
    train, val, test = (torch.zeros(len(y), dtype=torch.bool) for _ in range(3))
    train[order[:120]], val[order[120:300]], test[order[300:]] = True, True, True

    model = GCN(x.shape[1], args.hidden, int(y.max()) + 1, args.dropout)
    optimizer = torch.optim.Adam(model.parameters(), lr=args.lr, weight_decay=args.l2)
    for epoch in range(1, args.epochs + 1):
        model.train()
        optimizer.zero_grad()
        output = model(x, a_hat)
        loss = F.nll_loss(output[train], y[train])
        loss.backward()
        optimizer.step()
        if epoch % 40 == 0:
            model.eval()
            with torch.no_grad():
                out = model(x, a_hat)
            print(
                f"epoch {epoch:3d} loss {loss.item():.4f} train {accuracy(out, y, train):.3f} "
                f"val {accuracy(out, y, val):.3f} test {accuracy(out, y, test):.3f}"
            )


if __name__ == "__main__":
    main()
