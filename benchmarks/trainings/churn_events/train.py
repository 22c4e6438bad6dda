"""Churn prediction from an event log: aggregate per customer, then a small MLP."""
import numpy as np
import torch
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler
from torch import nn

SEED = 2024
np.random.seed(SEED)
torch.manual_seed(SEED)


def load_tables(n_customers=3000):
    """Stand-in for the two CSV exports (CRM and billing)."""
    rng = np.random.default_rng(SEED)
    ids = rng.permutation(np.arange(10_000, 10_000 + n_customers))
    happiness = rng.normal(size=n_customers)
    churned = (rng.random(n_customers) < 1 / (1 + np.exp(2.5 * happiness + 0.4))).astype(int)
    customers = {"customer_id": ids, "churned": churned}

    counts = rng.poisson(12, n_customers) + 2
    rep = np.repeat(np.arange(n_customers), counts)
    events = {
        "customer_id": ids[rep],
        "amount": np.exp(3 + 0.4 * happiness[rep] + rng.normal(0, 0.5, len(rep))),
        "tickets": rng.poisson(np.exp(0.2 - 0.5 * happiness[rep])),
        "days_since_login": rng.exponential(np.exp(1.5 - 0.5 * happiness[rep])),
    }
    mixed = rng.permutation(len(rep))
    return customers, {name: column[mixed] for name, column in events.items()}


def build_features(events):
    who, row = np.unique(events["customer_id"], return_inverse=True)
    n_events = np.bincount(row)

    def mean(name):
        return np.bincount(row, weights=events[name]) / n_events

    def largest(name):
        out = np.zeros(len(who))
        np.maximum.at(out, row, events[name])
        return out

    columns = [mean("amount"), largest("amount"), n_events, mean("tickets"), mean("days_since_login"), largest("days_since_login")]
    return who, np.log1p(np.stack(columns, axis=1))


customers, events = load_tables()
who, features = build_features(events)
X = features.astype(np.float32)
y = customers["churned"].astype(np.float32)
print(f"{len(X)} customers, {X.shape[1]} features, churn rate {y.mean():.3f}")

X_train, X_val, y_train, y_val = train_test_split(X, y, test_size=0.25, stratify=y, random_state=SEED)
scaler = StandardScaler().fit(X_train)
X_train = torch.from_numpy(scaler.transform(X_train))
X_val = torch.from_numpy(scaler.transform(X_val))
y_train, y_val = torch.from_numpy(y_train), torch.from_numpy(y_val)

model = nn.Sequential(
    nn.Linear(X.shape[1], 64), nn.ReLU(), nn.Dropout(0.1),
    nn.Linear(64, 32), nn.ReLU(),
    nn.Linear(32, 1),
)
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3, weight_decay=1e-2)
criterion = nn.BCEWithLogitsLoss()

for epoch in range(1, 31):
    model.train()
    order = torch.randperm(len(X_train))
    total = 0.0
    for idx in order.split(64):
        optimizer.zero_grad()
        loss = criterion(model(X_train[idx]).squeeze(1), y_train[idx])
        loss.backward()
        optimizer.step()
        total += loss.item() * len(idx)
    if epoch % 3 == 0:
        model.eval()
        with torch.no_grad():
            logits = model(X_val).squeeze(1)
            val_loss = criterion(logits, y_val).item()
        auc = roc_auc_score(y_val.numpy(), logits.numpy())
        print(f"[{epoch:02d}] train {total / len(X_train):.4f}  val {val_loss:.4f}  auc {auc:.3f}")
