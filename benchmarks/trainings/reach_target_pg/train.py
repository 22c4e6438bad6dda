"""REINFORCE with a leave-one-out baseline: a point mass is pushed to a target. Returns are all negative."""
import torch
from torch import nn
from torch.distributions import Normal

torch.manual_seed(12)

GROUPS, PER_GROUP, STEPS = 16, 8, 15
DT = 0.2


class Gaussian(nn.Module):
    def __init__(self):
        super().__init__()
        self.mean = nn.Sequential(nn.Linear(6, 48), nn.Tanh(), nn.Linear(48, 48), nn.Tanh(), nn.Linear(48, 2))
        self.log_std = nn.Parameter(torch.full((2,), -0.3))

    def forward(self, s):
        return Normal(self.mean(s), self.log_std.clamp(-2.0, 0.5).exp())


def dynamics(pos, vel, action):
    vel = 0.9 * vel + DT * action.clamp(-2, 2)
    return pos + DT * vel, vel


def rollout(policy, pos, target, greedy=False):
    vel = torch.zeros_like(pos)
    logps, rewards, entropies = [], [], []
    for _ in range(STEPS):
        state = torch.cat([pos, vel, target - pos], dim=-1)
        dist = policy(state)
        action = dist.mean if greedy else dist.sample()
        logps.append(dist.log_prob(action).sum(-1))
        entropies.append(dist.entropy().sum(-1))
        with torch.no_grad():
            pos, vel = dynamics(pos, vel, action)
            rewards.append(-(pos - target).norm(dim=-1) - 0.01 * action.pow(2).sum(-1))
    return torch.stack(logps), torch.stack(rewards), torch.stack(entropies), (pos - target).norm(dim=-1)


policy = Gaussian()
optimizer = torch.optim.Adam(policy.parameters(), lr=4e-3)
eval_pos = torch.rand(256, 2) * 2 - 1
eval_target = torch.rand(256, 2) * 2 - 1
print(f"mean start distance {(eval_pos - eval_target).norm(dim=-1).mean():.3f}")

for update in range(1, 301):
    # every start state is played PER_GROUP times, so that the others serve as its baseline
    pos = (torch.rand(GROUPS, 2) * 2 - 1).repeat_interleave(PER_GROUP, 0)
    target = (torch.rand(GROUPS, 2) * 2 - 1).repeat_interleave(PER_GROUP, 0)
    logp, reward, entropy, _ = rollout(policy, pos, target)

    to_go = reward.flip(0).cumsum(0).flip(0).view(STEPS, GROUPS, PER_GROUP)
    others = (to_go.sum(-1, keepdim=True) - to_go) / (PER_GROUP - 1)
    advantage = (to_go - others) / to_go.std()

    loss = -(logp.view_as(advantage) * advantage).mean() - 1e-3 * entropy.mean()
    optimizer.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(policy.parameters(), 1.0)
    optimizer.step()

    if update % 30 == 0:
        with torch.no_grad():
            _, r, _, dist = rollout(policy, eval_pos, eval_target, greedy=True)
        print(
            f"update {update:4d}  train return {reward.sum(0).mean():7.3f}  "
            f"greedy return {r.sum(0).mean():7.3f}  final distance {dist.mean():.3f}"
        )
