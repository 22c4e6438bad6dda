# REINFORCE on a corridor: reach the exit in few steps. Every reward is negative (a cost per step).
import torch
from torch import nn
from torch.distributions import Categorical

torch.manual_seed(0)

SIZE = 7
HORIZON = 30
EPISODES = 64
UPDATES = 120
GAMMA = 0.98
MOVES = torch.tensor([[0, 1], [0, -1], [1, 0], [-1, 0]])


class Corridors:
    """Many grids at once, each with a wall that has one wide gap; agents start at random cells left of the wall."""

    def __init__(self, n):
        self.n = n

    def reset(self):
        self.pos = torch.stack([torch.randint(SIZE, (self.n,)), torch.randint(2, (self.n,))], dim=1)
        self.gap = torch.randint(SIZE, (self.n,))
        self.alive = torch.ones(self.n, dtype=torch.bool)
        return self.observe()

    def observe(self):
        scale = SIZE - 1
        return torch.cat([self.pos / scale, self.gap[:, None] / scale, (self.gap - self.pos[:, 0])[:, None] / scale], dim=1)

    def step(self, action):
        target = (self.pos + MOVES[action]).clamp(0, SIZE - 1)
        blocked = (target[:, 1] == 3) & ((target[:, 0] - self.gap).abs() > 1)
        moves = self.alive & ~blocked
        self.pos = torch.where(moves[:, None], target, self.pos)
        cost = torch.where(blocked, -1.5, -1.0) * self.alive
        was_alive = self.alive
        self.alive = self.alive & (self.pos[:, 1] < SIZE - 1)
        return self.observe(), cost, was_alive


policy = nn.Sequential(nn.Linear(4, 64), nn.Tanh(), nn.Linear(64, 4))
optimizer = torch.optim.RMSprop(policy.parameters(), lr=3e-3)
env = Corridors(EPISODES)


def rollout():
    obs = env.reset()
    log_probs, rewards, masks, entropies = [], [], [], []
    for _ in range(HORIZON):
        dist = Categorical(logits=policy(obs))
        action = dist.sample()
        obs, reward, mask = env.step(action)
        log_probs.append(dist.log_prob(action))
        entropies.append(dist.entropy())
        rewards.append(reward)
        masks.append(mask)
    returns, g = [], torch.zeros(EPISODES)
    for r in reversed(rewards):
        g = r + GAMMA * g
        returns.append(g)
    returns.reverse()
    return [torch.stack(t) for t in (log_probs, returns, masks, entropies, rewards)]


for update in range(1, UPDATES + 1):
    log_probs, returns, mask, entropies, rewards = rollout()
    # the baseline is the mean over the episodes that still run at the same time step
    weight = mask.float()
    baseline = (returns * weight).sum(1) / weight.sum(1).clamp(min=1)
    advantage = (returns - baseline[:, None])[mask]
    advantage = advantage / (advantage.std() + 1e-6)
    loss = -(log_probs[mask] * advantage).mean() - 0.02 * entropies[mask].mean()

    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if update % 10 == 0:
        success = (~env.alive).float().mean().item()
        print(f"update {update:3d}  loss {loss.item():+.3f}  return {rewards.sum(0).mean().item():7.2f}  "
              f"success {success:.2f}  entropy {entropies[mask].mean().item():.3f}")
