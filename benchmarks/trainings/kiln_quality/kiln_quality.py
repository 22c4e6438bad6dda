"""Reject or keep bricks by kiln readings; the test bricks come from the plant's second kiln, which runs hotter."""

import numpy as np
import torch
from sklearn.metrics import accuracy_score, roc_auc_score
from sklearn.preprocessing import StandardScaler
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

rng = np.random.default_rng(42)
torch.manual_seed(42)


def kiln(n, hot):
    peak = rng.normal(1040 + 25 * hot, 20, n)
    soak = rng.normal(7.0 + 1.0 * hot, 1.2, n)
    oxygen = rng.normal(6.0, 1.0, n)
    moisture = rng.gamma(3.0, 0.7, n)
    clay = rng.uniform(0.4, 0.8, n)
    strain = 0.05 * (peak - 1065) + 0.8 * (soak - 8) + 0.5 * (moisture - 2) * (clay > 0.6) - 0.3 * (oxygen - 6)
    bad = (strain + rng.normal(0, 0.4, n) > 0).astype(np.float32)
    return np.stack([peak, soak, oxygen, moisture, clay], 1).astype(np.float32), bad


class BrickNet(nn.Module):
    def __init__(self, features):
        super().__init__()
        self.layers = nn.Sequential(
            nn.Linear(features, 32),
            nn.ReLU(),
            nn.Dropout(0.1),
            nn.Linear(32, 16),
            nn.ReLU(),
            nn.Linear(16, 1),
        )

    def forward(self, x):
        return self.layers(x).squeeze(1)


def prepare(readings):
    scaler = StandardScaler()
    return torch.from_numpy(scaler.fit_transform(readings).astype(np.float32))


x_train, y_train = kiln(3000, hot=0)
x_val, y_val = kiln(600, hot=0)
x_test, y_test = kiln(800, hot=1)

train_x = prepare(x_train)
val_x = prepare(x_val)
test_x = prepare(x_test)

loader = DataLoader(TensorDataset(train_x, torch.from_numpy(y_train)), batch_size=64, shuffle=True)
model = BrickNet(train_x.shape[1])
criterion = nn.BCEWithLogitsLoss()
optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3, weight_decay=1e-4)


def score(x, y):
    model.eval()
    with torch.no_grad():
        prob = torch.sigmoid(model(x)).numpy()
    return accuracy_score(y, prob > 0.5), roc_auc_score(y, prob)


for epoch in range(15):
    model.train()
    for xb, yb in loader:
        optimizer.zero_grad(set_to_none=True)
        loss = criterion(model(xb), yb)
        loss.backward()
        optimizer.step()
    acc, auc = score(val_x, y_val)
    print(f"epoch {epoch:2d} loss {loss.item():.3f} val acc {acc:.3f} auc {auc:.3f}")

acc, auc = score(test_x, y_test)
print(f"second kiln: acc {acc:.3f} auc {auc:.3f}")
