"""Tag the nodes of a synthetic citation graph: every paper carries several topics at once. Two-layer GCN, dense algebra."""
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from sklearn.metrics import f1_score

PAPERS = 900
TOPICS = 12
WORDS = 150


def citation_graph(seed):
    rng = np.random.default_rng(seed)
    popularity = rng.uniform(0.08, 0.35, TOPICS)
    tags = rng.random((PAPERS, TOPICS)) < popularity
    vocabulary = rng.random((TOPICS, WORDS)) < 0.08
    rate = 0.03 + 0.20 * (tags.astype(float) @ vocabulary).clip(max=2)
    words = (rng.random((PAPERS, WORDS)) < rate).astype("float32")
    overlap = tags.astype(float) @ tags.T
    union = tags.sum(1)[:, None] + tags.sum(1)[None, :] - overlap
    jaccard = overlap / np.maximum(union, 1)
    links = np.triu(rng.random((PAPERS, PAPERS)) < 0.04 * jaccard ** 3, k=1)
    adjacency = torch.tensor(links | links.T, dtype=torch.float32)
    return adjacency, torch.tensor(words), torch.tensor(tags, dtype=torch.float32), rng.permutation(PAPERS)


def normalise(adjacency):
    a = adjacency + torch.eye(len(adjacency))
    scale = a.sum(1).rsqrt()
    return scale[:, None] * a * scale[None, :]


class GCN(nn.Module):
    def __init__(self, d_in, hidden, d_out):
        super().__init__()
        self.first = nn.Linear(d_in, hidden)
        self.second = nn.Linear(hidden, hidden)
        self.self_loop = nn.Linear(d_in, hidden)
        self.out = nn.Linear(hidden, d_out)

    def forward(self, a_hat, x):
        x = F.dropout(x, 0.2, self.training)
        h = F.relu(a_hat @ self.first(x) + self.self_loop(x))
        h = F.dropout(h, 0.3, self.training)
        h = F.relu(a_hat @ self.second(h) + h)
        return self.out(h)


def main():
    torch.manual_seed(3)
    adjacency, words, tags, order = citation_graph(3)
    a_hat = normalise(adjacency)
    train, val = torch.tensor(order[:550]), torch.tensor(order[550:])
    print(f"{PAPERS} papers, {int(adjacency.sum() / 2)} links, {tags.sum(1).mean():.2f} topics per paper")

    model = GCN(WORDS, 64, TOPICS)
    optimizer = torch.optim.Adam(model.parameters(), lr=5e-3, weight_decay=5e-4)
    for epoch in range(1, 161):
        model.train()
        logits = model(a_hat, words)
        loss = F.cross_entropy(logits[train], tags[train])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if epoch % 20 == 0:
            model.eval()
            with torch.no_grad():
                predicted = torch.sigmoid(model(a_hat, words)) > 0.5
            micro = f1_score(tags[val].numpy(), predicted[val].numpy(), average="micro")
            macro = f1_score(tags[val].numpy(), predicted[val].numpy(), average="macro", zero_division=0)
            print(f"epoch {epoch:3d} loss {loss.item():.4f} val micro-f1 {micro:.3f} macro-f1 {macro:.3f}")


if __name__ == "__main__":
    main()
