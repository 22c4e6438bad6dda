"""Link prediction between hikers and huts: message passing on the known visits, negatives drawn anew in each step."""

import numpy as np
import torch
import torch.nn.functional as F
from sklearn.metrics import roc_auc_score
from torch import nn

torch.manual_seed(12)
rng = np.random.default_rng(12)
HIKERS, HUTS, WIDTH = 300, 80, 16


def visits():
    taste = rng.normal(size=(HIKERS, 3))
    offer = rng.normal(size=(HUTS, 3))
    chance = 1 / (1 + np.exp(-(2.0 * taste @ offer.T - 3.0)))
    return torch.from_numpy(rng.random((HIKERS, HUTS)) < chance)


class Bipartite(nn.Module):
    """Two rounds of averaging over the known edges, as in LightGCN: no weights but the embeddings, no activations."""

    def __init__(self):
        super().__init__()
        self.hiker = nn.Embedding(HIKERS, WIDTH)
        self.hut = nn.Embedding(HUTS, WIDTH)
        nn.init.normal_(self.hiker.weight, std=0.1)
        nn.init.normal_(self.hut.weight, std=0.1)
        self.bias = nn.Parameter(torch.zeros(HUTS))

    def forward(self, known):
        scale = known.sum(1, keepdim=True).clamp(min=1).rsqrt() * known.sum(0, keepdim=True).clamp(min=1).rsqrt()
        edge = known * scale
        hiker, hut = self.hiker.weight, self.hut.weight
        hikers, huts = [hiker], [hut]
        for _ in range(2):
            hiker, hut = edge @ hut, edge.T @ hiker
            hikers.append(hiker)
            huts.append(hut)
        return torch.stack(hikers).mean(0), torch.stack(huts).mean(0)

    def score(self, known, rows, columns):
        hikers, huts = self(known)
        return (hikers[rows] * huts[columns]).sum(-1) + self.bias[columns]


all_visits = visits()
pairs = all_visits.nonzero()
pairs = pairs[torch.randperm(len(pairs))]
cut = int(0.85 * len(pairs))
train, test = pairs[:cut], pairs[cut:]
known = torch.zeros(HIKERS, HUTS)
known[train[:, 0], train[:, 1]] = 1.0
never = (~all_visits).nonzero()
test_negative = never[torch.randperm(len(never))[: len(test)]]

model = Bipartite()
optimizer = torch.optim.Adam(model.parameters(), lr=0.02)
for epoch in range(1, 41):
    model.train()
    # One full batch an epoch; a negative may by chance be a visit that is held out, as in real use.
    random_hut = torch.randint(0, HUTS, (len(train),))
    positive = model.score(known, train[:, 0], train[:, 1])
    negative = model.score(known, train[:, 0], random_hut)
    loss = -F.logsigmoid(positive - negative).mean()
    loss = loss + 1e-4 * (model.hiker.weight.pow(2).sum() + model.hut.weight.pow(2).sum()) / HIKERS
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if epoch % 8 == 0:
        with torch.no_grad():
            good = model.score(known, test[:, 0], test[:, 1])
            bad = model.score(known, test_negative[:, 0], test_negative[:, 1])
        auc = roc_auc_score([1] * len(good) + [0] * len(bad), torch.cat([good, bad]).numpy())
        print(f"epoch {epoch:2d} loss {loss.item():.4f} test AUC {auc:.3f}")
