"""REINFORCE with a learned baseline on a hand-written 1-D lander: pick thrust 0/1/2 to touch down softly.
Many landers fly in parallel; finished ones are masked out. Returns are negative throughout."""
import numpy as np
import torch
from torch import nn
from torch.distributions import Categorical

torch.manual_seed(99)
np.random.seed(99)

N, MAX_T, DT, GRAVITY = 48, 40, 0.25, 1.0


class Landers:
    def reset(self):
        self.h = np.random.uniform(4, 8, N)
        self.v = np.random.uniform(-1.5, 0.0, N)
        self.done = np.zeros(N, bool)
        return self.observe()

    def observe(self):
        return torch.as_tensor(np.stack([self.h / 4 - 1, self.v, self.v * np.abs(self.v) / 4], 1), dtype=torch.float32)

    def step(self, thrust):
        alive = ~self.done
        acc = thrust * 1.0 - GRAVITY
        self.v = np.where(alive, self.v + acc * DT, self.v)
        self.h = np.where(alive, self.h + self.v * DT, self.h)
        landed = alive & (self.h <= 0)
        reward = np.where(alive, -0.05 - 0.02 * thrust, 0.0)
        reward = reward - np.where(landed, np.abs(self.v), 0.0)
        self.done |= landed
        return self.observe(), reward, alive


def play(policy, greedy=False):
    env = Landers()
    obs, logps, ents, rewards, masks, states = env.reset(), [], [], [], [], []
    for t in range(MAX_T):
        dist = Categorical(logits=policy(obs))
        act = dist.logits.argmax(-1) if greedy else dist.sample()
        states.append(obs)
        logps.append(dist.log_prob(act))
        ents.append(dist.entropy())
        obs, r, alive = env.step(act.numpy())
        rewards.append(torch.as_tensor(r, dtype=torch.float32))
        masks.append(torch.as_tensor(alive, dtype=torch.float32))
    # still flying at the end: costly
    rewards[-1] = rewards[-1] - torch.as_tensor(np.where(env.done, 0.0, 3.0), dtype=torch.float32)
    crash = np.abs(env.v[env.done]).mean() if env.done.any() else float("nan")
    return states, logps, ents, rewards, masks, crash


policy = nn.Sequential(nn.Linear(3, 48), nn.Tanh(), nn.Linear(48, 3))
value = nn.Sequential(nn.Linear(4, 48), nn.Tanh(), nn.Linear(48, 1))
opt_policy = torch.optim.Adam(policy.parameters(), lr=8e-3)
opt_value = torch.optim.Adam(value.parameters(), lr=8e-3)

with torch.no_grad():
    *_, rew, _, crash = play(policy)
print(f"random policy: return {torch.stack(rew).sum(0).mean():.3f} touch-down speed {crash:.2f}")

ITERS = 120
for it in range(1, ITERS + 1):
    states, logps, ents, rewards, masks, crash = play(policy)
    R, returns = torch.zeros(N), []
    for r in reversed(rewards):
        R = r + R
        returns.insert(0, R)
    returns, mask = torch.stack(returns), torch.stack(masks)
    clock = torch.arange(MAX_T).float().view(-1, 1, 1).expand(-1, N, 1) / MAX_T
    v = value(torch.cat([torch.stack(states), clock], -1)).squeeze(-1)
    adv = (returns - v).detach()
    adv = adv / (adv[mask.bool()].std() + 1e-6)

    entropy = (torch.stack(ents) * mask).sum() / mask.sum()
    pg = -(torch.stack(logps) * adv * mask).sum() / mask.sum() - 0.01 * (1 - it / ITERS) * entropy
    opt_policy.zero_grad()
    pg.backward()
    opt_policy.step()

    v_loss = ((v - returns).pow(2) * mask).sum() / mask.sum()
    opt_value.zero_grad()
    v_loss.backward()
    opt_value.step()
    if it % 15 == 0:
        print(f"iter {it:3d} return {returns[0].mean():.3f} touch-down speed {crash:.2f} "
              f"value loss {v_loss.item():.3f} entropy {entropy.item():.3f}")

with torch.no_grad():
    *_, rew, _, crash = play(policy, greedy=True)
print(f"greedy policy: return {torch.stack(rew).sum(0).mean():.3f} touch-down speed {crash:.2f}")
