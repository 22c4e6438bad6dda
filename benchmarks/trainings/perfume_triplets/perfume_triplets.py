'''Embedding of perfumes from their ingredient lists.

Triplets: anchor and positive come from the same house, negative from another one.
The embedding is judged by a 5-nearest-neighbour vote on houses' new perfumes.
'''
import numpy as np
import torch
from torch import nn

rng = np.random.RandomState(12)
N_INGR, N_HOUSE = 80, 12
style = rng.dirichlet(np.ones(N_INGR) * 0.15, N_HOUSE)
common = rng.dirichlet(np.ones(N_INGR) * 0.5)


def perfumes(n):
    house = rng.randint(0, N_HOUSE, n)
    mix = 0.35 * style[house] + 0.65 * common
    x = np.stack([rng.multinomial(40, m / m.sum()) for m in mix])
    return np.sqrt(x).astype(np.float32), house


class Embed(nn.Module):
    def __init__(self, d=16):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(N_INGR, 96), nn.ReLU(), nn.Linear(96, 64), nn.ReLU(), nn.Linear(64, d))

    def forward(self, x):
        return self.net(x)


def distance(a, b):
    return (a - b).pow(2).sum(dim=1)


def triplet_loss(anchor, pos, neg):
    return (distance(anchor, pos) - distance(anchor, neg)).mean()


def sample_triplets(house, size):
    by_house = [np.flatnonzero(house == h) for h in range(N_HOUSE)]
    a = rng.randint(0, len(house), size)
    p = np.array([rng.choice(by_house[house[i]]) for i in a])
    n = rng.randint(0, len(house), size)
    while (bad := house[n] == house[a]).any():
        n[bad] = rng.randint(0, len(house), bad.sum())
    return a, p, n


def knn_accuracy(model, x_ref, y_ref, x_new, y_new, k=5):
    model.eval()
    with torch.no_grad():
        d = torch.cdist(model(x_new), model(x_ref))
    near = y_ref[d.topk(k, largest=False).indices]
    vote = torch.nn.functional.one_hot(near, N_HOUSE).sum(1).argmax(1)
    return (vote == y_new).float().mean().item()


def main():
    torch.manual_seed(0)
    x, h = perfumes(1500)
    x2, h2 = perfumes(600)
    xt, x2t = torch.from_numpy(x), torch.from_numpy(x2)
    mu, sd = xt.mean(0), xt.std(0) + 1e-3
    xt, x2t = (xt - mu) / sd, (x2t - mu) / sd
    model = Embed()
    opt = torch.optim.Adam(model.parameters(), lr=1e-3)
    for step in range(1, 501):
        model.train()
        a, p, n = sample_triplets(h, 128)
        loss = triplet_loss(model(xt[a]), model(xt[p]), model(xt[n]))
        opt.zero_grad()
        loss.backward()
        opt.step()
        if step % 100 == 0:
            acc = knn_accuracy(model, xt, torch.from_numpy(h), x2t, torch.from_numpy(h2))
            print(f"step {step:4d}  loss {loss.item():12.4f}  knn accuracy {acc:.3f}")


if __name__ == "__main__":
    main()
