"""Heteroscedastic regression on diabetes progression: an ensemble fitted with Gaussian likelihood (loss may fall below zero)."""
import numpy as np
import torch
import torch.nn as nn
from sklearn.datasets import load_diabetes
from sklearn.model_selection import KFold
from sklearn.preprocessing import StandardScaler

SEED = 5
MEMBERS = 5
EPOCHS = 30


class BatchEnsembleMLP(nn.Module):
    """All members in one set of batched matrices, shape (member, in, out)."""

    def __init__(self, members, d_in, width):
        super().__init__()
        self.w1 = nn.Parameter(torch.randn(members, d_in, width) / d_in ** 0.5)
        self.b1 = nn.Parameter(torch.zeros(members, 1, width))
        self.w2 = nn.Parameter(torch.randn(members, width, width) / width ** 0.5)
        self.b2 = nn.Parameter(torch.zeros(members, 1, width))
        self.w3 = nn.Parameter(torch.randn(members, width, 2) / width ** 0.5 * 0.1)
        self.b3 = nn.Parameter(torch.zeros(members, 1, 2))
        self.drop = nn.Dropout(0.15)

    def forward(self, x):
        h = torch.tanh(torch.baddbmm(self.b1, x.expand(self.w1.shape[0], *x.shape[-2:]), self.w1))
        h = torch.tanh(torch.baddbmm(self.b2, self.drop(h), self.w2))
        mean, raw = torch.baddbmm(self.b3, h, self.w3).unbind(-1)
        return mean, nn.functional.softplus(raw) + 0.02


def nll(mean, std, y):
    return (std.log() + 0.5 * ((y - mean) / std) ** 2).mean(dim=-1)


def fit_fold(x_tr, y_tr, x_te, y_te, fold):
    scaler = StandardScaler().fit(x_tr)
    y_mean, y_std = y_tr.mean(), y_tr.std() * 4.0   # targets end up within about half a unit
    xt = torch.tensor(scaler.transform(x_tr), dtype=torch.float32)
    yt = torch.tensor((y_tr - y_mean) / y_std, dtype=torch.float32)
    xe = torch.tensor(scaler.transform(x_te), dtype=torch.float32)

    model = BatchEnsembleMLP(MEMBERS, xt.shape[1], 32)
    opt = torch.optim.AdamW(model.parameters(), lr=4e-3, weight_decay=0.05)
    sched = torch.optim.lr_scheduler.CosineAnnealingLR(opt, EPOCHS)
    for epoch in range(EPOCHS):
        model.train()
        total, batches = 0.0, 0
        for _ in range(len(xt) // 32):
            # every member draws its own bootstrap rows
            idx = torch.randint(len(xt), (MEMBERS, 32))
            mean, std = model(xt[idx])
            loss = nll(mean, std, yt[idx]).sum()
            opt.zero_grad()
            loss.backward()
            opt.step()
            total, batches = total + loss.item() / MEMBERS, batches + 1
        sched.step()
        if epoch % 10 == 9:
            print(f"  fold {fold} epoch {epoch + 1} nll per member {total / batches:+.4f}")
    model.eval()
    with torch.no_grad():
        mean, std = model(xe)
    mix_mean = mean.mean(0)
    mix_std = (std.square() + mean.square()).mean(0).sub(mix_mean.square()).sqrt()
    pred = mix_mean.numpy() * y_std + y_mean
    spread = mix_std.numpy() * y_std
    rmse = np.sqrt(np.mean((pred - y_te) ** 2))
    coverage = np.mean(np.abs(pred - y_te) < 1.2816 * spread)
    return rmse, coverage


def main():
    torch.manual_seed(SEED)
    x, y = load_diabetes(return_X_y=True)
    results = []
    for fold, (tr, te) in enumerate(KFold(4, shuffle=True, random_state=SEED).split(x)):
        rmse, coverage = fit_fold(x[tr], y[tr], x[te], y[te], fold)
        base = np.sqrt(np.mean((y[te] - y[tr].mean()) ** 2))
        print(f"fold {fold}: rmse {rmse:.2f} (mean predictor {base:.2f}), 80% interval covers {coverage:.2f}")
        results.append((rmse, base, coverage))
    rmse, base, coverage = np.mean(results, axis=0)
    print(f"mean over folds: rmse {rmse:.2f}, baseline {base:.2f}, coverage {coverage:.2f}")


if __name__ == "__main__":
    main()
