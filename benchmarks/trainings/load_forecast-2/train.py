import torch
from torch import nn
from torch.utils.data import DataLoader

from dataset import WindowDataset, substation_load

CONTEXT, HORIZON = 48, 6


class GRUForecaster(nn.Module):
    def __init__(self, hidden=32):
        super().__init__()
        self.proj = nn.Linear(6, hidden)
        self.rnn = nn.GRU(hidden, hidden, batch_first=True)
        self.head = nn.Linear(hidden, HORIZON)

    def forward(self, x):
        patches = x.unfold(1, 6, 6)                    # 8 patches of six hours
        out, _ = self.rnn(self.proj(patches).tanh())
        return self.head(out[:, -1])


def mae_mw(model, dataset, mean, std):
    """Mean absolute error in megawatts."""
    model.eval()
    err, naive, n = 0.0, 0.0, 0
    with torch.no_grad():
        for x, y in DataLoader(dataset, batch_size=256):
            truth = y * dataset.std + dataset.mean
            pred = model(x) * std + mean
            last_day = x[:, -24:-24 + HORIZON] * dataset.std + dataset.mean
            err += (pred - truth).abs().sum().item()
            naive += (last_day - truth).abs().sum().item()
            n += truth.numel()
    return err / n, naive / n


def main():
    torch.manual_seed(77)
    series = substation_load(days=200, seed=77)
    cut = 150 * 24
    train_ds = WindowDataset(series[:cut], CONTEXT, HORIZON)
    test_ds = WindowDataset(series[cut:], CONTEXT, HORIZON)
    loader = DataLoader(train_ds, batch_size=64, shuffle=True)

    model = GRUForecaster()
    optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
    criterion = nn.SmoothL1Loss(beta=0.5)
    for epoch in range(1, 19):
        model.train()
        running = 0.0
        for x, y in loader:
            optimizer.zero_grad()
            loss = criterion(model(x), y)
            loss.backward()
            optimizer.step()
            running += loss.item() * len(x)
        train_mae, _ = mae_mw(model, train_ds, train_ds.mean, train_ds.std)
        test_mae, naive = mae_mw(model, test_ds, train_ds.mean, train_ds.std)
        print(
            f"epoch {epoch:2d} loss {running / len(train_ds):.4f} MAE train {train_mae:.2f} MW, test {test_mae:.2f} MW "
            f"(same hours yesterday: {naive:.2f} MW)"
        )


if __name__ == "__main__":
    main()
