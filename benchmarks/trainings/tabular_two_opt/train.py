"""Insurance claims: rare claims and skewed amounts, with a mixture head. Embeddings are trained by SparseAdam, the rest by AdamW.
The target is the log amount relative to the premium, which is mostly negative."""
import numpy as np
import torch
from torch import nn

torch.manual_seed(71)
rng = np.random.default_rng(71)
N_MODELS, N_TOWNS = 300, 120


def portfolio(n):
    car = rng.integers(0, N_MODELS, n)
    town = rng.integers(0, N_TOWNS, n)
    cont = rng.normal(0, 1, (n, 5))
    risk = CAR[car] + TOWN[town] + 0.5 * cont[:, 0] * cont[:, 1] + 0.4 * np.tanh(cont[:, 2])
    y = -1.5 + 0.8 * risk + rng.normal(0, 0.3 + 0.25 / (1 + np.exp(-2 * cont[:, 3])), n)
    pack = lambda a, t: torch.as_tensor(a, dtype=t)
    return pack(car, torch.long), pack(town, torch.long), pack(cont, torch.float32), pack(y, torch.float32)


CAR = rng.normal(0, 0.8, N_MODELS)
TOWN = rng.normal(0, 0.6, N_TOWNS)
train, test = portfolio(12000), portfolio(3000)


class ClaimNet(nn.Module):
    def __init__(self, dim=6):
        super().__init__()
        self.car = nn.Embedding(N_MODELS, dim, sparse=True)
        self.town = nn.Embedding(N_TOWNS, dim, sparse=True)
        nn.init.normal_(self.car.weight, std=0.05)
        nn.init.normal_(self.town.weight, std=0.05)
        self.body = nn.Sequential(nn.Linear(2 * dim + 5, 64), nn.SiLU(), nn.Linear(64, 64), nn.SiLU())
        self.mean, self.log_std = nn.Linear(64, 1), nn.Linear(64, 1)

    def forward(self, car, town, cont):
        h = self.body(torch.cat([self.car(car), self.town(town), cont], 1))
        return self.mean(h).squeeze(-1), self.log_std(h).squeeze(-1).clamp(-3, 2)


def nll(mean, log_std, y):
    return (0.5 * ((y - mean) * torch.exp(-log_std)) ** 2 + log_std).mean()


@torch.no_grad()
def report(model):
    model.eval()
    m, s = model(*test[:3])
    y = test[3]
    r2 = 1 - ((y - m) ** 2).mean() / y.var(unbiased=False)
    cover = ((y - m).abs() < 1.645 * s.exp()).float().mean()
    model.train()
    return nll(m, s, y).item(), r2.item(), cover.item()


model = ClaimNet()
tables = [model.car.weight, model.town.weight]
dense = [p for p in model.parameters() if not any(p is t for t in tables)]
opt_tables = torch.optim.SparseAdam(tables, lr=5e-3)
opt_dense = torch.optim.AdamW(dense, lr=2e-3, weight_decay=1e-3)
EPOCHS, BS = 10, 64
decay = lambda e: 0.5 ** max(0, e - 5)
schedules = [torch.optim.lr_scheduler.LambdaLR(o, decay) for o in (opt_tables, opt_dense)]

for epoch in range(1, EPOCHS + 1):
    total = 0.0
    for idx in torch.randperm(len(train[3])).split(BS):
        car, town, cont, y = (c[idx] for c in train)
        mean, log_std = model(car, town, cont)
        loss = nll(mean, log_std, y)
        opt_tables.zero_grad()
        opt_dense.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(dense, 5.0)
        opt_tables.step()
        opt_dense.step()
        total += loss.item() * len(idx)
    for s in schedules:
        s.step()
    v, r2, cover = report(model)
    print(f"epoch {epoch:2d} train nll {total / len(train[3]):+.4f} test nll {v:+.4f} R2 {r2:.3f} 90% band covers {cover:.3f}")
