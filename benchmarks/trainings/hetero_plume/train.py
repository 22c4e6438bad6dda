# Wind-tunnel style regression: the noise level depends on the input, so the net
# predicts a mean and a log-variance and is trained on the Gaussian likelihood.
import math

import torch
from torch import nn

torch.manual_seed(404)


def plume(n, gen):
    pos = torch.rand(n, 3, generator=gen) * 4 - 2
    centre = torch.sin(1.7 * pos[:, 0]) + 0.4 * pos[:, 1] ** 2 - 0.6 * pos[:, 2] * pos[:, 0]
    spread = 0.03 + 0.25 * torch.sigmoid(3 * pos[:, 1])
    signal = 0.2 * centre + 0.2 * spread * torch.randn(n, generator=gen)
    return pos, signal - 0.3, 0.2 * spread


gen = torch.Generator().manual_seed(11)
x_tr, y_tr, _ = plume(9000, gen)
x_va, y_va, s_va = plume(2000, gen)


class MeanAndScale(nn.Module):
    def __init__(self, width=96):
        super().__init__()
        self.trunk = nn.Sequential(
            nn.Linear(3, width), nn.SiLU(),
            nn.Linear(width, width), nn.SiLU(),
            nn.Linear(width, width), nn.SiLU(),
        )
        self.mu = nn.Linear(width, 1)
        self.log_var = nn.Linear(width, 1)

    def forward(self, x):
        h = self.trunk(x)
        return self.mu(h).squeeze(-1), self.log_var(h).squeeze(-1).clamp(-12, 6)


def likelihood_loss(mu, log_var, y):
    return 0.5 * (log_var + (y - mu) ** 2 * torch.exp(-log_var)).mean() + 0.5 * math.log(2 * math.pi)


net = MeanAndScale()
epochs, batch = 40, 128
steps = epochs * (len(x_tr) // batch)
opt = torch.optim.SGD(net.parameters(), lr=0.01, momentum=0.9, nesterov=True)
sched = torch.optim.lr_scheduler.OneCycleLR(opt, max_lr=0.04, total_steps=steps, pct_start=0.25)

print(f"std of the target: {y_va.std():.4f}")
for epoch in range(epochs):
    net.train()
    order = torch.randperm(len(x_tr))
    total = 0.0
    for k in range(len(x_tr) // batch):
        rows = order[k * batch:(k + 1) * batch]
        mu, log_var = net(x_tr[rows])
        loss = likelihood_loss(mu, log_var, y_tr[rows])
        opt.zero_grad(set_to_none=True)
        loss.backward()
        nn.utils.clip_grad_norm_(net.parameters(), 2.0)
        opt.step()
        sched.step()
        total += loss.item()
    if epoch % 4 == 3:
        net.eval()
        with torch.no_grad():
            mu, log_var = net(x_va)
            nll = likelihood_loss(mu, log_var, y_va)
            rmse = (mu - y_va).pow(2).mean().sqrt()
            sigma = torch.exp(0.5 * log_var)
            inside = ((mu - y_va).abs() < 1.96 * sigma).float().mean()
            corr = torch.corrcoef(torch.stack([sigma, s_va]))[0, 1]
        print(f"epoch {epoch + 1:2d} nll {total / (len(x_tr) // batch):+.3f} | val nll {nll:+.3f} "
              f"rmse {rmse:.4f} 95%-coverage {inside:.3f} sigma-corr {corr:.3f}")
