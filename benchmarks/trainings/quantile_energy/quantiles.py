"""Quantile regression for household energy use: one network, five quantiles, categorical embeddings.

The optimiser is stepped by a cyclic schedule once per batch, and training stops early on the pinball loss.
"""
import copy

import numpy as np
import torch
from torch import nn

QUANTILES = torch.tensor([0.05, 0.25, 0.5, 0.75, 0.95])
rng = np.random.default_rng(99)
torch.manual_seed(99)


def households(n):
    region = rng.integers(0, 12, n)
    heating = rng.integers(0, 4, n)
    people = rng.integers(1, 7, n)
    area = rng.normal(100, 30, n).clip(25)
    region_effect = np.sin(np.arange(12) * 1.7)[region]
    heating_effect = np.array([-0.5, 0.1, 0.6, 1.2])[heating]
    mean = 0.9 * region_effect + heating_effect * area / 100 + 0.25 * np.sqrt(people) - 2.0
    noise = rng.gumbel(0, 0.12 + 0.1 * people / 6, n)
    numeric = np.stack([(people - 3.5) / 1.7, (area - 100) / 30], 1)
    return (torch.tensor(np.stack([region, heating], 1)), torch.tensor(numeric, dtype=torch.float32),
            torch.tensor(mean + noise, dtype=torch.float32))


class QuantileNet(nn.Module):
    def __init__(self, cards=(12, 4), n_num=2, emb=4):
        super().__init__()
        self.embs = nn.ModuleList(nn.Embedding(c, emb) for c in cards)
        self.net = nn.Sequential(nn.Linear(emb * len(cards) + n_num, 64), nn.Mish(), nn.Linear(64, 64), nn.Mish(),
                                 nn.Linear(64, len(QUANTILES)))

    def forward(self, cat, num):
        e = [emb(cat[:, i]) for i, emb in enumerate(self.embs)]
        raw = self.net(torch.cat([*e, num], 1))
        # increments are positive, so quantiles can never cross
        steps = nn.functional.softplus(raw[:, 1:])
        return torch.cat([raw[:, :1], raw[:, :1] + steps.cumsum(1)], 1)


def pinball(pred, y):
    diff = y[:, None] - pred
    return torch.maximum(QUANTILES * diff, (QUANTILES - 1) * diff).mean()


train, valid, test = households(6000), households(1500), households(3000)
model = QuantileNet()
opt = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)
sched = torch.optim.lr_scheduler.CyclicLR(opt, base_lr=0.01, max_lr=0.5, step_size_up=60, mode="triangular2")
best, best_state, patience = float("inf"), None, 0
for epoch in range(30):
    model.train()
    for idx in torch.randperm(len(train[2])).split(100):
        cat, num, y = (t[idx] for t in train)
        loss = pinball(model(cat, num), y)
        opt.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        opt.step()
        sched.step()
    model.eval()
    with torch.no_grad():
        score = pinball(model(*valid[:2]), valid[2]).item()
    if score < best - 1e-5:
        best, best_state, patience = score, copy.deepcopy(model.state_dict()), 0
    else:
        patience += 1
    if epoch % 3 == 0:
        print(f"epoch {epoch:2d} lr {sched.get_last_lr()[0]:.3f} valid pinball {score:.5f}")
    if patience >= 5:
        print(f"early stop after epoch {epoch}")
        break

model.load_state_dict(best_state)
model.eval()
with torch.no_grad():
    pred = model(*test[:2])
constant = torch.quantile(train[2], QUANTILES).expand(len(test[2]), -1)
print(f"test pinball {pinball(pred, test[2]):.5f} vs unconditional quantiles {pinball(constant, test[2]):.5f}")
share = (test[2][:, None] <= pred).float().mean(0)
print("observed share below each quantile:", " ".join(f"{q:.2f}->{s:.3f}" for q, s in zip(QUANTILES.tolist(), share.tolist())))
