"""Hourly bike rentals from weather and calendar features (simulated city)."""
import numpy as np
import torch
from sklearn.metrics import mean_absolute_error, r2_score
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from torch import nn
from torch.utils.data import DataLoader, Dataset

SEED = 404
np.random.seed(SEED)
torch.manual_seed(SEED)


def simulate(n=4000):
    hour = np.random.randint(0, 24, n)
    weekday = np.random.randint(0, 7, n)
    temp = np.random.normal(14, 8, n)
    rain = np.random.gamma(0.5, 1.5, n)
    wind = np.random.weibull(2, n) * 12
    commute = np.exp(-((hour - 8) ** 2) / 3) + 1.2 * np.exp(-((hour - 17.5) ** 2) / 5)
    leisure = np.exp(-((hour - 14) ** 2) / 18)
    base = np.where(weekday < 5, 160 * commute + 40 * leisure, 120 * leisure)
    rentals = base * (0.4 + 0.6 / (1 + np.exp(-(temp - 12) / 4))) * np.exp(-0.25 * rain) - 0.5 * wind
    rentals = np.clip(rentals + np.random.normal(0, 6, n), 0, None)
    return np.stack([hour, weekday], 1), np.stack([temp, rain, wind], 1), rentals


class RentalData(Dataset):
    def __init__(self, features, target):
        self.features = torch.as_tensor(features, dtype=torch.float32)
        self.target = torch.as_tensor(target, dtype=torch.float32)

    def __len__(self):
        return len(self.target)

    def __getitem__(self, item):
        return self.features[item], self.target[item]


class DemandNet(nn.Module):
    def __init__(self, n_in, hidden=(96, 48), p=0.05):
        super().__init__()
        layers = []
        for h in hidden:
            layers += [nn.Linear(n_in, h), nn.LeakyReLU(0.1), nn.Dropout(p)]
            n_in = h
        self.net = nn.Sequential(*layers, nn.Linear(n_in, 1))

    def forward(self, x):
        return self.net(x)


def weighted_mse(pred, target):
    """Busy hours count a little more."""
    weight = 1.0 + 0.3 * target.clamp(min=0)
    return (weight * (pred - target) ** 2).mean() / weight.mean()


def main():
    cats, nums, y = simulate()
    split = train_test_split(cats, nums, y, test_size=0.2, random_state=SEED)
    cats_tr, cats_te, nums_tr, nums_te, y_tr, y_te = split
    enc = OneHotEncoder(sparse_output=False).fit(cats_tr)
    sc, ysc = StandardScaler().fit(nums_tr), StandardScaler().fit(y_tr[:, None])
    x_tr = np.hstack([enc.transform(cats_tr), sc.transform(nums_tr)])
    x_te = np.hstack([enc.transform(cats_te), sc.transform(nums_te)])
    train = RentalData(x_tr, ysc.transform(y_tr[:, None]).ravel())
    loader = DataLoader(train, batch_size=64, shuffle=True)

    model = DemandNet(x_tr.shape[1])
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3, weight_decay=1e-3)
    x_te_t = torch.as_tensor(x_te, dtype=torch.float32)
    for epoch in range(1, 36):
        model.train()
        total = 0.0
        for xb, yb in loader:
            optimizer.zero_grad()
            loss = weighted_mse(model(xb), yb)
            loss.backward()
            optimizer.step()
            total += loss.item()
        if epoch % 5 == 0 or epoch == 1:
            model.eval()
            with torch.no_grad():
                pred = ysc.inverse_transform(model(x_te_t).numpy()).ravel()
            print(f"epoch {epoch:2d} | train loss {total / len(loader):.4f} | test MAE {mean_absolute_error(y_te, pred):.2f} "
                  f"bikes | R2 {r2_score(y_te, pred):.3f}")
    print(f"predicting the mean gives MAE {mean_absolute_error(y_te, np.full_like(y_te, y_tr.mean())):.2f}")


if __name__ == "__main__":
    main()
