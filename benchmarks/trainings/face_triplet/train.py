"""Metric learning on the digits: train an embedding with triplets, report retrieval on held-out images."""
import torch
import torch.nn as nn
import torch.nn.functional as F
from sklearn.datasets import load_digits
from torch.utils.data import DataLoader, Dataset

torch.manual_seed(21)
MARGIN = 0.3


class TripletDigits(Dataset):
    def __init__(self, x, y):
        self.x, self.y = x, y
        self.by_class = {c: torch.where(y == c)[0] for c in range(10)}
        self.others = {c: torch.where(y != c)[0] for c in range(10)}

    def __len__(self):
        return len(self.y)

    def __getitem__(self, i):
        c = int(self.y[i])
        same, other = self.by_class[c], self.others[c]
        p = same[torch.randint(len(same), (1,))]
        n = other[torch.randint(len(other), (1,))]
        return self.x[i], self.x[p[0]], self.x[n[0]]


class Embedder(nn.Module):
    def __init__(self, dim=16):
        super().__init__()
        self.conv = nn.Sequential(
            nn.Conv2d(1, 16, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
            nn.Conv2d(16, 32, 3, padding=1), nn.ReLU(),
        )
        self.proj = nn.Sequential(nn.Flatten(), nn.Linear(32 * 16, 64), nn.ReLU(), nn.Linear(64, dim))

    def forward(self, x):
        return F.normalize(self.proj(self.conv(x)), dim=1)


def triplet_loss(anchor, positive, negative, margin=MARGIN):
    pos = F.cosine_similarity(anchor, positive)
    neg = F.cosine_similarity(anchor, negative)
    return F.relu(pos - neg + margin).mean()


@torch.no_grad()
def retrieval(model, gallery, gallery_y, query, query_y):
    model.eval()
    sim = model(query) @ model(gallery).T
    top = sim.topk(5, dim=1).indices
    hits = gallery_y[top] == query_y[:, None]
    return hits[:, 0].float().mean().item(), hits.float().mean().item()


def main():
    data = load_digits()
    x = torch.tensor(data.images, dtype=torch.float32).unsqueeze(1) / 16
    y = torch.tensor(data.target)
    order = torch.randperm(len(y))
    x, y = x[order], y[order]
    # gallery and queries are both unseen in training
    x_train, y_train = x[:1100], y[:1100]
    gallery, gallery_y = x[1100:1400], y[1100:1400]
    query, query_y = x[1400:], y[1400:]

    loader = DataLoader(TripletDigits(x_train, y_train), batch_size=64, shuffle=True)
    model = Embedder()
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    p1, p5 = retrieval(model, gallery, gallery_y, query, query_y)
    print(f"untrained: recall@1 {p1:.3f} precision@5 {p5:.3f}")
    for epoch in range(1, 16):
        model.train()
        total = 0.0
        for anchor, positive, negative in loader:
            loss = triplet_loss(model(anchor), model(positive), model(negative))
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            total += loss.item() * len(anchor)
        p1, p5 = retrieval(model, gallery, gallery_y, query, query_y)
        print(f"epoch {epoch:2d} loss {total / len(y_train):.4f} recall@1 {p1:.3f} precision@5 {p5:.3f}")


if __name__ == "__main__":
    main()
