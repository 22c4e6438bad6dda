"""Two things at once from a fermentation tank: yield in litres and whether the batch is contaminated."""
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from sklearn.metrics import roc_auc_score
from torch.utils.data import DataLoader, Dataset, random_split

SEED = 14


class TankDataset(Dataset):
    def __init__(self, n=3000, seed=SEED):
        rng = np.random.default_rng(seed)
        self.sensors = rng.normal(size=(n, 16)).astype(np.float32)
        s = self.sensors
        litres = 4200 + 900 * np.tanh(s[:, 0] + 0.5 * s[:, 1]) + 500 * s[:, 2] * s[:, 3] + rng.normal(0, 60, n)
        risk = 2.2 * np.sin(2 * s[:, 8]) + 1.8 * s[:, 9] * s[:, 10] - 0.3
        self.litres = litres.astype(np.float32)
        self.contaminated = (rng.random(n) < 1 / (1 + np.exp(-2 * risk))).astype(np.float32)

    def __len__(self):
        return len(self.sensors)

    def __getitem__(self, i):
        return self.sensors[i], self.litres[i], self.contaminated[i]


class TankNet(nn.Module):
    def __init__(self, hidden=48):
        super().__init__()
        self.shared = nn.Sequential(nn.Linear(16, hidden), nn.ReLU(), nn.Linear(hidden, hidden), nn.ReLU())
        self.yield_head = nn.Linear(hidden, 1)
        self.contamination_head = nn.Linear(hidden, 1)

    def forward(self, x):
        h = self.shared(x)
        return self.yield_head(h).squeeze(-1), self.contamination_head(h).squeeze(-1)


def compute_losses(model, batch):
    sensors, litres, contaminated = batch
    pred_litres, logit = model(sensors)
    loss_yield = F.mse_loss(pred_litres, litres)
    loss_cont = F.binary_cross_entropy_with_logits(logit, contaminated)
    return loss_yield, loss_cont


@torch.no_grad()
def evaluate(model, loader):
    model.eval()
    litres, pred, labels, probs = [], [], [], []
    for sensors, l, c in loader:
        p, logit = model(sensors)
        litres.append(l)
        pred.append(p)
        labels.append(c)
        probs.append(torch.sigmoid(logit))
    litres, pred = torch.cat(litres), torch.cat(pred)
    mae = (litres - pred).abs().mean().item()
    return mae, roc_auc_score(torch.cat(labels).numpy(), torch.cat(probs).numpy())


def main():
    torch.manual_seed(SEED)
    data = TankDataset()
    train, val = random_split(data, [2400, 600], generator=torch.Generator().manual_seed(SEED))
    train_loader = DataLoader(train, batch_size=64, shuffle=True)
    val_loader = DataLoader(val, batch_size=300)

    model = TankNet()
    opt = torch.optim.Adam(model.parameters(), lr=3e-3)
    for epoch in range(1, 31):
        model.train()
        sums = np.zeros(2)
        for batch in train_loader:
            loss_yield, loss_cont = compute_losses(model, batch)
            loss = loss_yield + loss_cont
            opt.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 10.0)
            opt.step()
            sums += [loss_yield.item(), loss_cont.item()]
        if epoch % 5 == 0:
            mae, auc = evaluate(model, val_loader)
            ly, lc = sums / len(train_loader)
            print(f"epoch {epoch:3d} | yield loss {ly:.4g} | contamination loss {lc:.4f} | val MAE {mae:.1f} l | val AUC {auc:.4f}")


if __name__ == "__main__":
    main()
