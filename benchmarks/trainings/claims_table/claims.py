"""Rare fraudulent insurance claims: categorical embeddings + numeric columns, F1 on a held-out part."""
import numpy as np
import torch
from sklearn.metrics import average_precision_score, f1_score
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler
from torch import nn

RNG = np.random.default_rng(83)
torch.manual_seed(83)
NUMERIC = ["amount", "age", "years_insured", "previous", "delay_days", "hour"]
CATEGORIC = {"region": 12, "vehicle": 8, "channel": 4}


def simulate(n=4200):
    t = {
        "amount": RNG.lognormal(7, 0.8, n),
        "age": RNG.integers(18, 85, n),
        "years_insured": RNG.exponential(6, n),
        "previous": RNG.poisson(0.8, n),
        "delay_days": RNG.gamma(2, 5, n),
        "hour": RNG.integers(0, 24, n),
    }
    for name, k in CATEGORIC.items():
        t[name] = RNG.integers(0, k, n)
    risk = (0.9 * (np.log(t["amount"]) - 7) + 0.5 * (t["previous"] - 0.8) + 0.05 * (t["delay_days"] - 10)
            + 0.8 * (t["channel"] == 2) + 0.6 * (t["region"] % 3 == 0) - 0.05 * t["years_insured"])
    fraud = (risk + RNG.gumbel(0, 0.4, n) > 2.7).astype(int)
    columns = NUMERIC + list(CATEGORIC)
    return np.stack([t[c] for c in columns], axis=1).astype(float), fraud


def balance(x, y):
    """Repeat the fraudulent claims until both classes are of the same size."""
    fraud, honest = np.flatnonzero(y == 1), np.flatnonzero(y == 0)
    extra = RNG.choice(fraud, len(honest) - len(fraud))
    rows = np.concatenate([honest, fraud, extra])
    return x[rows], y[rows]


class ClaimNet(nn.Module):
    def __init__(self, hidden=160):
        super().__init__()
        self.embeddings = nn.ModuleList(nn.Embedding(k, 6) for k in CATEGORIC.values())
        width = len(NUMERIC) + 6 * len(CATEGORIC)
        self.net = nn.Sequential(
            nn.Linear(width, hidden), nn.ReLU(),
            nn.Linear(hidden, hidden), nn.ReLU(), nn.Linear(hidden, 1))

    def forward(self, num, cat):
        emb = [e(cat[:, i]) for i, e in enumerate(self.embeddings)]
        return self.net(torch.cat([num, *emb], dim=1)).squeeze(1)


def tensors(x, y, scaler):
    num = torch.tensor(scaler.transform(x[:, : len(NUMERIC)]), dtype=torch.float32)
    cat = torch.tensor(x[:, len(NUMERIC):], dtype=torch.long)
    return num, cat, torch.tensor(y, dtype=torch.float32)


x, y = simulate()
print(f"{len(y)} claims, {y.mean():.1%} fraudulent")
x, y = balance(x, y)
x_train, x_val, y_train, y_val = train_test_split(x, y, test_size=0.25, stratify=y, random_state=83)
scaler = StandardScaler().fit(x_train[:, : len(NUMERIC)])
train, val = tensors(x_train, y_train, scaler), tensors(x_val, y_val, scaler)
print(f"train {len(y_train)} rows, validation {len(y_val)} rows ({y_val.mean():.1%} fraudulent)")

model = ClaimNet()
optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3, weight_decay=1e-4)
loss_fn = nn.BCEWithLogitsLoss()
for epoch in range(1, 15):
    model.train()
    losses = []
    for idx in torch.randperm(len(y_train)).split(64):
        num, cat, target = (t[idx] for t in train)
        loss = loss_fn(model(num, cat), target)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    model.eval()
    with torch.no_grad():
        prob = model(val[0], val[1]).sigmoid().numpy()
    truth = val[2].numpy()
    print(f"epoch {epoch:2d} loss {np.mean(losses):.4f} | val F1 {f1_score(truth, prob > 0.5):.3f} "
          f"recall {(prob[truth == 1] > 0.5).mean():.3f} AP {average_precision_score(truth, prob):.3f}")
