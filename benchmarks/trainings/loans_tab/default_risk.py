"""Loan default risk on imbalanced tabular data, with oversampling of the rare class."""
import numpy as np
import torch
import torch.nn as nn
from sklearn.metrics import average_precision_score, f1_score, roc_auc_score
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler
from sklearn.utils import resample
from torch.utils.data import DataLoader, TensorDataset

SEED = 2
np.random.seed(SEED)
torch.manual_seed(SEED)


def loan_book(n=2500):
    """About six percent defaults, weak signal in a handful of columns."""
    rng = np.random.default_rng(SEED)
    x = rng.normal(size=(n, 20))
    risk = 0.7 * x[:, 0] - 0.5 * x[:, 1] + 0.4 * x[:, 2] * x[:, 3] - 3.2
    y = (rng.random(n) < 1 / (1 + np.exp(-risk))).astype(int)
    return x, y


def oversample(x, y):
    """Repeat defaulted loans until both classes are the same size."""
    pos, neg = x[y == 1], x[y == 0]
    pos = resample(pos, replace=True, n_samples=len(neg), random_state=SEED)
    xb = np.vstack([neg, pos])
    yb = np.concatenate([np.zeros(len(neg), int), np.ones(len(pos), int)])
    return xb, yb


class RiskNet(nn.Module):
    def __init__(self, n_in):
        super().__init__()
        self.layers = nn.Sequential(
            nn.Linear(n_in, 64), nn.ReLU(), nn.Dropout(0.2),
            nn.Linear(64, 32), nn.ReLU(), nn.Dropout(0.2),
            nn.Linear(32, 1),
        )

    def forward(self, x):
        return self.layers(x).squeeze(-1)


def as_loader(x, y, shuffle):
    ds = TensorDataset(torch.tensor(x, dtype=torch.float32), torch.tensor(y, dtype=torch.float32))
    return DataLoader(ds, batch_size=128, shuffle=shuffle)


@torch.no_grad()
def scores(net, loader):
    net.eval()
    logits = torch.cat([net(xb) for xb, _ in loader])
    return torch.sigmoid(logits).numpy()


def main():
    x, y = loan_book()
    print(f"{len(y)} loans, {y.mean():.1%} defaults")

    x, y = oversample(x, y)
    x_train, x_val, y_train, y_val = train_test_split(x, y, test_size=0.25, random_state=SEED, stratify=y)
    print(f"train {len(y_train)} rows ({y_train.mean():.1%} defaults), validation {len(y_val)} rows")

    scaler = StandardScaler().fit(x_train)
    train_loader = as_loader(scaler.transform(x_train), y_train, True)
    val_loader = as_loader(scaler.transform(x_val), y_val, False)

    net = RiskNet(x.shape[1])
    opt = torch.optim.Adam(net.parameters(), lr=2e-3)
    criterion = nn.BCEWithLogitsLoss()
    for epoch in range(1, 31):
        net.train()
        total = 0.0
        for xb, yb in train_loader:
            opt.zero_grad()
            loss = criterion(net(xb), yb)
            loss.backward()
            opt.step()
            total += loss.item() * len(yb)
        if epoch % 5 == 0:
            p = scores(net, val_loader)
            print(f"epoch {epoch:2d} loss {total / len(y_train):.4f}  val auc {roc_auc_score(y_val, p):.4f}  "
                  f"ap {average_precision_score(y_val, p):.4f}  f1 {f1_score(y_val, p > 0.5):.4f}")


if __name__ == "__main__":
    main()
