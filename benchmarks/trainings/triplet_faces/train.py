"""Metric learning on digit images: an embedding in which images of one digit lie together; scored by nearest neighbours."""
import numpy as np
import torch
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from sklearn.neighbors import KNeighborsClassifier
from torch import nn
from torch.utils.data import DataLoader, Dataset

torch.manual_seed(66)
np.random.seed(66)


class TripletDigits(Dataset):
    def __init__(self, images, labels):
        self.images, self.labels = images, labels
        self.members = {k: np.flatnonzero(labels == k) for k in np.unique(labels)}

    def __len__(self):
        return len(self.images)

    def __getitem__(self, i):
        k = self.labels[i]
        other = np.random.choice([c for c in self.members if c != k])
        j = np.random.choice(self.members[k])
        m = np.random.choice(self.members[other])
        return self.images[i], self.images[j], self.images[m]


class Embedder(nn.Module):
    def __init__(self, dim=8):
        super().__init__()
        self.conv = nn.Sequential(
            nn.Conv2d(1, 16, 3, padding=1), nn.ReLU(),
            nn.Conv2d(16, 32, 3, stride=2, padding=1), nn.ReLU(),
        )
        self.fc = nn.Sequential(nn.Flatten(), nn.Linear(32 * 16, 64), nn.ReLU(), nn.Linear(64, dim))

    def forward(self, x):
        return self.fc(self.conv(x))


def sq_dist(a, b):
    return (a - b).pow(2).sum(dim=1)


class TripletCriterion(nn.Module):
    def __init__(self, margin=1.0):
        super().__init__()
        self.margin = margin

    def forward(self, anchor, positive, negative):
        gap = sq_dist(anchor, positive) - sq_dist(anchor, negative)
        return (gap + self.margin).mean()


@torch.no_grad()
def embed(net, x):
    net.eval()
    out = torch.cat([net(b) for b in x.split(256)])
    net.train()
    return out.numpy()


def knn_accuracy(net, xa, ya, xb, yb):
    knn = KNeighborsClassifier(n_neighbors=5).fit(embed(net, xa), ya)
    return knn.score(embed(net, xb), yb)


def main():
    raw = load_digits()
    x = (raw.images / 16.0).astype(np.float32)[:, None]
    xtr, xte, ytr, yte = train_test_split(x, raw.target, test_size=0.25, random_state=0, stratify=raw.target)
    xtr, xte = torch.from_numpy(xtr), torch.from_numpy(xte)
    loader = DataLoader(TripletDigits(xtr, ytr), batch_size=32, shuffle=True)

    net = Embedder()
    criterion = TripletCriterion(margin=1.0)
    opt = torch.optim.Adam(net.parameters(), lr=1e-3)
    print(f"epoch  0: 5-nn accuracy {knn_accuracy(net, xtr, ytr, xte, yte):.4f}")

    for epoch in range(1, 13):
        losses, pos, neg = [], [], []
        for a, p, n in loader:
            ea, ep, en = net(a), net(p), net(n)
            loss = criterion(ea, ep, en)
            opt.zero_grad()
            loss.backward()
            opt.step()
            losses.append(loss.item())
            pos.append(sq_dist(ea, ep).mean().item())
            neg.append(sq_dist(ea, en).mean().item())
        acc = knn_accuracy(net, xtr, ytr, xte, yte)
        print(
            f"epoch {epoch:2d}: loss {np.mean(losses):.4g}  d(pos) {np.mean(pos):.4g}  d(neg) {np.mean(neg):.4g}"
            f"  5-nn accuracy {acc:.4f}"
        )


if __name__ == "__main__":
    main()
