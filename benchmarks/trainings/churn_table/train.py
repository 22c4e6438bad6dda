"""Churn model on account records: numeric usage columns plus two categorical ones."""
import numpy as np
import torch
from sklearn.metrics import roc_auc_score
from sklearn.preprocessing import StandardScaler
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

SEED = 5
np.random.seed(SEED)
torch.manual_seed(SEED)

PLANS, REGIONS = 6, 12


def load_accounts(n=9000):
    rng = np.random.default_rng(SEED)
    opened = rng.integers(0, 2000, size=n)
    plan = rng.integers(0, PLANS, size=n)
    region = rng.integers(0, REGIONS, size=n)
    usage = rng.gamma(2.0, 30.0, size=n)
    tickets = rng.poisson(1.5, size=n)
    late = rng.binomial(6, 0.2, size=n)
    discount = rng.uniform(0, 0.4, size=n)
    plan_effect = rng.normal(0, 0.9, size=PLANS)
    region_effect = rng.normal(0, 0.5, size=REGIONS)
    score = (
        0.8 * (tickets - 1.5) + 1.1 * (late - 1.2) - 5.0 * (discount - 0.2)
        - 0.02 * (usage - 60) + plan_effect[plan] + region_effect[region]
    )
    churned = (score + rng.logistic(0, 0.8, size=n) > 0.7).astype(np.float32)
    frame = {
        "opened": opened, "usage": usage, "tickets": tickets, "late": late,
        "discount": discount, "plan": plan, "region": region,
    }
    return frame, churned


def prepare(frame, churned):
    # oldest accounts first, so that the newest fifth is held out
    by_age = np.argsort(frame["opened"], kind="stable")
    frame = {name: column[by_age] for name, column in frame.items()}
    numeric = np.stack([frame[c] for c in ("opened", "usage", "tickets", "late", "discount")], axis=1)
    categories = np.stack([frame["plan"], frame["region"]], axis=1)
    return numeric.astype(np.float32), categories, churned


class ChurnNet(nn.Module):
    def __init__(self, n_numeric):
        super().__init__()
        self.plan = nn.Embedding(PLANS, 4)
        self.region = nn.Embedding(REGIONS, 6)
        self.net = nn.Sequential(
            nn.Linear(n_numeric + 10, 64), nn.ReLU(), nn.Dropout(0.1),
            nn.Linear(64, 32), nn.ReLU(),
            nn.Linear(32, 1),
        )

    def forward(self, numeric, categories):
        parts = [numeric, self.plan(categories[:, 0]), self.region(categories[:, 1])]
        return self.net(torch.cat(parts, dim=1)).squeeze(1)


def main():
    numeric, categories, target = prepare(*load_accounts())
    cut = int(0.8 * len(target))
    scaler = StandardScaler().fit(numeric[:cut])
    numeric = scaler.transform(numeric)
    tensors = [torch.as_tensor(numeric, dtype=torch.float32), torch.as_tensor(categories), torch.as_tensor(target)]
    train = DataLoader(TensorDataset(*[t[:cut] for t in tensors]), batch_size=64, shuffle=True)
    held_out = [t[cut:] for t in tensors]

    model = ChurnNet(numeric.shape[1])
    criterion = nn.BCEWithLogitsLoss()
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3, weight_decay=1e-5)

    for epoch in range(20):
        model.train()
        losses = []
        for num, cat, y in train:
            optimizer.zero_grad()
            loss = criterion(model(num, cat), y)
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
        model.eval()
        with torch.no_grad():
            logits = model(held_out[0], held_out[1])
            val_loss = criterion(logits, held_out[2]).item()
            auc = roc_auc_score(held_out[2].numpy(), logits.numpy())
            acc = ((logits > 0).float() == held_out[2]).float().mean().item()
        print(f"epoch {epoch + 1:2d} loss={np.mean(losses):.4f} val_loss={val_loss:.4f} auc={auc:.3f} acc={acc:.3f}")
    base = max(target[cut:].mean(), 1 - target[cut:].mean())
    print(f"majority class: {base:.3f}")


if __name__ == "__main__":
    main()
