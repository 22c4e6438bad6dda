"""Self-supervised features of the digits by bootstrapping a target network."""

import copy

import torch
import torch.nn as nn
import torch.nn.functional as F
from sklearn.datasets import load_digits
from sklearn.neighbors import KNeighborsClassifier


def augment(x):
    shift = torch.randint(-1, 2, (2,)).tolist()
    x = torch.roll(x, shift, dims=(2, 3))
    keep = (torch.rand_like(x) > 0.2).float()
    return x * keep + 0.1 * torch.randn_like(x)


def projector(n_in, hidden, n_out):
    return nn.Sequential(nn.Linear(n_in, hidden), nn.BatchNorm1d(hidden), nn.ReLU(), nn.Linear(hidden, n_out))


class Encoder(nn.Module):
    def __init__(self, dim=64):
        super().__init__()
        self.backbone = nn.Sequential(
            nn.Conv2d(1, 16, 3, padding=1), nn.BatchNorm2d(16), nn.ReLU(), nn.MaxPool2d(2),
            nn.Conv2d(16, 16, 3, padding=1), nn.BatchNorm2d(16), nn.ReLU(), nn.Flatten(),
        )
        self.project = projector(256, 96, dim)

    def forward(self, x):
        return self.project(self.backbone(x))


class BYOL(nn.Module):
    def __init__(self, tau=0.98):
        super().__init__()
        self.online = Encoder()
        self.predictor = projector(64, 96, 64)
        self.target = copy.deepcopy(self.online)
        for p in self.target.parameters():
            p.requires_grad = False
        self.tau = tau

    def forward(self, a, b):
        pa, pb = self.predictor(self.online(a)), self.predictor(self.online(b))
        with torch.no_grad():
            ta, tb = self.target(a), self.target(b)
        return 2 - F.cosine_similarity(pa, tb).mean() - F.cosine_similarity(pb, ta).mean()

    @torch.no_grad()
    def move_target(self):
        for t, o in zip(self.target.parameters(), self.online.parameters()):
            t.mul_(self.tau).add_(o, alpha=1 - self.tau)


@torch.no_grad()
def knn(model, x, y, cut):
    model.eval()
    features = F.normalize(model.online.backbone(x)).numpy()
    score = KNeighborsClassifier(5).fit(features[:cut], y[:cut]).score(features[cut:], y[cut:])
    model.train()
    return score


def main():
    torch.manual_seed(18)
    digits = load_digits()
    order = torch.randperm(len(digits.target)).numpy()
    x = torch.tensor(digits.images[order], dtype=torch.float32).unsqueeze(1) / 16
    y, cut = digits.target[order], 400
    model = BYOL()
    optimizer = torch.optim.AdamW(
        list(model.online.parameters()) + list(model.predictor.parameters()), lr=2e-3, weight_decay=1e-4
    )
    print(f"start knn {knn(model, x, y, cut):.3f}")
    for epoch in range(4):
        total = 0.0
        for idx in torch.randperm(len(x)).split(128):
            loss = model(augment(x[idx]), augment(x[idx]))
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            model.move_target()
            total += loss.item() * len(idx)
        print(f"epoch {epoch} loss {total / len(x):.4f} knn {knn(model, x, y, cut):.3f}")


if __name__ == "__main__":
    main()
