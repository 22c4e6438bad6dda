"""Robot arm: one trunk, three tasks (position, collision, grip class), uncertainty-weighted losses, some labels missing."""
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(29)
N_TRAIN, N_TEST = 3000, 800
GRIPS = 4


def simulate(n):
    joints = (torch.rand(n, 4) * 2 - 1) * 2.0
    reach = torch.cumsum(joints, dim=1)
    lengths = torch.tensor([1.0, 0.8, 0.6, 0.4])
    xy = torch.stack([(lengths * reach.cos()).sum(1), (lengths * reach.sin()).sum(1)], dim=1)
    collision = ((xy[:, 0] < -0.3) & (xy[:, 1].abs() < 1.0)).float()
    grip = ((reach[:, -1] % 6.2832) / 6.2832 * GRIPS).long().clamp(0, GRIPS - 1)
    sensors = torch.cat([joints.sin(), joints.cos()], dim=1) + 0.02 * torch.randn(n, 8)
    return sensors, xy + 0.02 * torch.randn(n, 2), collision, grip


class Arm(nn.Module):
    def __init__(self, width=128):
        super().__init__()
        self.trunk = nn.Sequential(nn.Linear(8, width), nn.GELU(), nn.Linear(width, width), nn.GELU())
        self.position = nn.Linear(width, 2)
        self.collision = nn.Linear(width, 1)
        self.grip = nn.Linear(width, GRIPS)
        self.log_var = nn.Parameter(torch.zeros(3))

    def forward(self, x):
        h = self.trunk(x)
        return self.position(h), self.collision(h).squeeze(1), self.grip(h)


x, xy, hit, grip = simulate(N_TRAIN)
# a third of the grips was never annotated, collisions of some rows neither
grip[torch.rand(N_TRAIN) < 0.33] = -100
hit_known = torch.rand(N_TRAIN) > 0.2
hit = torch.where(hit_known, hit, torch.nan)
xt, xyt, hitt, gript = simulate(N_TEST)
pos_weight = (hit[hit_known] == 0).sum() / (hit[hit_known] == 1).sum()

model = Arm()
slow = [p for n, p in model.named_parameters() if n != "log_var"]
opt = torch.optim.AdamW(slow, lr=2e-3, weight_decay=1e-3)
opt_balance = torch.optim.SGD([model.log_var], lr=2e-2)


def balanced(losses):
    """Kendall & Gal: precision-weighted terms plus the log variances; the sum may become negative."""
    losses = torch.stack(losses)
    return (torch.exp(-model.log_var) * losses + model.log_var).sum()


EPOCHS = 15
sched = torch.optim.lr_scheduler.OneCycleLR(opt, max_lr=4e-3, total_steps=EPOCHS * (N_TRAIN // 60))
for epoch in range(EPOCHS):
    model.train()
    total = 0.0
    for idx in torch.randperm(N_TRAIN).split(60):
        p, c, g = model(x[idx])
        known = hit_known[idx]
        losses = [
            F.smooth_l1_loss(p, xy[idx]),
            F.binary_cross_entropy_with_logits(c[known], hit[idx][known], pos_weight=pos_weight),
            F.cross_entropy(g, grip[idx], ignore_index=-100, label_smoothing=0.05),
        ]
        loss = balanced(losses)
        opt.zero_grad()
        opt_balance.zero_grad()
        loss.backward()
        opt.step()
        opt_balance.step()
        sched.step()
        total += loss.item()
    if epoch % 3 == 2:
        model.eval()
        with torch.no_grad():
            p, c, g = model(xt)
            err = (p - xyt).norm(dim=1).mean()
            recall = (c[hitt == 1] > 0).float().mean()
            spec = (c[hitt == 0] <= 0).float().mean()
            acc = (g.argmax(1) == gript).float().mean()
        weights = ", ".join(f"{v:.2f}" for v in torch.exp(-model.log_var).tolist())
        print(f"epoch {epoch + 1:2d} loss {total / (N_TRAIN // 60):+.3f} | position error {err:.3f} | collision recall {recall:.3f} "
              f"specificity {spec:.3f} | grip acc {acc:.3f} | weights {weights}")
print(f"baselines: position {(xyt - xy.mean(0)).norm(dim=1).mean():.3f}, grip {gript.bincount().max() / N_TEST:.3f}")
