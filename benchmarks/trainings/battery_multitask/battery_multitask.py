"""Battery cells: capacity, inner resistance and early failure from formation data.

Three tasks weighted by learned uncertainties (exp(-s) * loss + s/2...), so the total goes below zero once the
regression errors are small. Half of the capacity values and a third of the resistances were never measured: NaN in the
table, masked in the loss. Failures are rare (8 %), hence pos_weight.
"""
import json
from dataclasses import asdict, dataclass

import torch
from sklearn.metrics import roc_auc_score
from torch import nn


@dataclass
class Plan:
    epochs: int = 20
    batch: int = 96
    lr: float = 3e-3
    seed: int = 44


def cells(n, seed, hide=True):
    g = torch.Generator().manual_seed(seed)
    x = torch.randn(n, 12, generator=g)
    core = torch.tanh(x[:, 0] + 0.5 * x[:, 1] * x[:, 2])
    cap = core + 0.4 * x[:, 3] + 0.1 * torch.randn(n, generator=g)
    res = -0.6 * core + 0.5 * torch.sin(2 * x[:, 4]) + 0.1 * torch.randn(n, generator=g)
    risk = 1.5 * res - cap + 0.5 * torch.randn(n, generator=g)
    fail = (risk > risk.quantile(0.92)).float()
    if hide:
        cap[torch.rand(n, generator=g) < 0.5] = float("nan")
        res[torch.rand(n, generator=g) < 0.33] = float("nan")
    return x, cap, res, fail


def masked_mse(pred, target):
    known = ~torch.isnan(target)
    return ((pred - torch.nan_to_num(target)) ** 2 * known).sum() / known.sum().clamp(min=1)


class CellNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(12, 64), nn.Mish(), nn.Linear(64, 64), nn.Mish())
        self.heads = nn.Linear(64, 3)
        self.s = nn.Parameter(torch.zeros(3))      # log variances of the tasks

    def forward(self, x):
        return self.heads(self.body(x)).unbind(1)

    def total(self, losses):
        losses = torch.stack(losses)
        return (0.5 * torch.exp(-self.s) * losses + 0.5 * self.s).sum()


def main():
    plan = Plan()
    print(json.dumps(asdict(plan)))
    torch.manual_seed(plan.seed)
    x, cap, res, fail = cells(4000, 0)
    xt, ct, rt, ft = cells(1500, 1, hide=False)
    net = CellNet()
    bce = nn.BCEWithLogitsLoss(pos_weight=torch.tensor(4.0))
    opt = torch.optim.Adam([
        {"params": [*net.body.parameters(), *net.heads.parameters()], "lr": plan.lr},
        {"params": [net.s], "lr": 2e-2},
    ])
    for epoch in range(plan.epochs):
        net.train()
        run = 0.0
        for i in torch.randperm(len(x)).split(plan.batch):
            pc, pr, pf = net(x[i])
            loss = net.total([masked_mse(pc, cap[i]), masked_mse(pr, res[i]), bce(pf, fail[i])])
            opt.zero_grad()
            loss.backward()
            opt.step()
            run += loss.item() * len(i)
        if epoch % 4 == 3:
            net.eval()
            with torch.no_grad():
                pc, pr, pf = net(xt)
            r2c = 1 - ((pc - ct) ** 2).mean() / ct.var()
            r2r = 1 - ((pr - rt) ** 2).mean() / rt.var()
            print(f"epoch {epoch + 1} total {run / len(x):+.3f} R2 capacity {r2c:.3f} resistance {r2r:.3f} failure AUC {roc_auc_score(ft, pf):.3f}")
    print("constant predictors: R2 0, AUC 0.5; task log variances", [round(v, 2) for v in net.s.tolist()])


if __name__ == "__main__":
    main()
