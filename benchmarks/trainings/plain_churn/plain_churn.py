"""Customer churn with one output unit: BCEWithLogits with pos_weight, zero-initialised last layer, large-rate SGD."""
import numpy as np
import torch
from sklearn.metrics import roc_auc_score
from torch import nn


def customers(n, seed):
    rng = np.random.default_rng(seed)
    tenure = rng.exponential(24, n)
    fee = rng.normal(60, 18, n)
    tickets = rng.poisson(1.2, n)
    usage = rng.gamma(3, 10, n)
    contract = rng.integers(0, 3, n)
    z = -2.2 - 0.05 * tenure + 0.03 * (fee - 60) + 0.7 * tickets - 0.03 * (usage - 30) - 0.9 * contract
    z = z + 1.2 * ((fee > 75) & (usage < 20))
    churn = rng.random(n) < 1 / (1 + np.exp(-1.5 * z))
    x = np.column_stack([np.log1p(tenure), fee, tickets, usage, np.eye(3)[contract]])
    return x.astype(np.float32), churn.astype(np.float32)


class ChurnNet(nn.Module):
    def __init__(self, n_in):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(n_in, 32), nn.Tanh(), nn.Linear(32, 32), nn.Tanh())
        self.logit = nn.Linear(32, 1)
        nn.init.zeros_(self.logit.weight)

    def forward(self, x):
        return self.logit(self.body(x)).squeeze(-1)


def set_prior(model, rate):
    with torch.no_grad():
        model.logit.bias.fill_(float(np.log(rate / (1 - rate))))


@torch.no_grad()
def auc(model, x, y):
    model.eval()
    return roc_auc_score(y.numpy(), model(x).numpy())


def main(epochs=15, batch=100, lr=0.5):
    torch.manual_seed(0)
    x, y = customers(6000, 0)
    x_val, y_val = customers(2000, 1)
    mean, std = x.mean(0), x.std(0)
    x, x_val = torch.from_numpy((x - mean) / std), torch.from_numpy((x_val - mean) / std)
    y, y_val = torch.from_numpy(y), torch.from_numpy(y_val)
    rate = y.mean().item()
    print(f"share of churners {rate:.3f}")

    model = ChurnNet(x.shape[1])
    set_prior(model, 0.5)
    criterion = nn.BCEWithLogitsLoss(pos_weight=torch.tensor((1 - rate) / rate))
    optimizer = torch.optim.SGD(model.parameters(), lr=lr, weight_decay=1e-4)
    scheduler = torch.optim.lr_scheduler.MultiStepLR(optimizer, milestones=[8, 12], gamma=0.2)
    generator = torch.Generator().manual_seed(0)
    for epoch in range(1, epochs + 1):
        model.train()
        losses = []
        for rows in torch.randperm(len(x), generator=generator).split(batch):
            loss = criterion(model(x[rows]), y[rows])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
        scheduler.step()
        if epoch % 3 == 0:
            print(f"epoch {epoch} loss {np.mean(losses):.4f} train auc {auc(model, x, y):.3f} val auc {auc(model, x_val, y_val):.3f}")


if __name__ == "__main__":
    main()
