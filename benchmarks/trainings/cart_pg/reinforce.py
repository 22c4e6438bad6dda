import argparse
import math
from collections import deque

import numpy as np
import torch
import torch.nn as nn
from torch.distributions import Categorical


class CartPole:
    """Barto-Sutton cart-pole, same constants as the gym version."""

    def __init__(self, seed=0, limit=200):
        self.rng = np.random.default_rng(seed)
        self.limit = limit

    def reset(self):
        self.s = self.rng.uniform(-0.05, 0.05, 4)
        self.t = 0
        return self.s.astype(np.float32)

    def step(self, a):
        x, xd, th, thd = self.s
        f = 10.0 if a == 1 else -10.0
        c, s = math.cos(th), math.sin(th)
        tmp = (f + 0.05 * thd ** 2 * s) / 1.1
        thacc = (9.8 * s - c * tmp) / (0.5 * (4 / 3 - 0.1 * c ** 2 / 1.1))
        xacc = tmp - 0.05 * thacc * c / 1.1
        self.s = np.array([x + 0.02 * xd, xd + 0.02 * xacc, th + 0.02 * thd, thd + 0.02 * thacc])
        self.t += 1
        fell = abs(self.s[0]) > 2.4 or abs(self.s[2]) > 12 * math.pi / 180
        return self.s.astype(np.float32), 1.0, fell or self.t >= self.limit


class Policy(nn.Module):
    def __init__(self, hidden):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(4, hidden), nn.Tanh(), nn.Linear(hidden, 2))

    def forward(self, obs):
        return Categorical(logits=self.net(obs))


def rollout(env, policy):
    obs, done = env.reset(), False
    logps, rewards, ents = [], [], []
    while not done:
        dist = policy(torch.from_numpy(obs))
        a = dist.sample()
        obs, r, done = env.step(a.item())
        logps.append(dist.log_prob(a))
        ents.append(dist.entropy())
        rewards.append(r)
    return torch.stack(logps), torch.stack(ents), rewards


def returns_to_go(rewards, gamma):
    out, g = [], 0.0
    for r in reversed(rewards):
        g = r + gamma * g
        out.append(g)
    return torch.tensor(out[::-1])


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--updates", type=int, default=60)
    p.add_argument("--episodes-per-update", type=int, default=5)
    p.add_argument("--gamma", type=float, default=0.99)
    p.add_argument("--lr", type=float, default=1e-2)
    p.add_argument("--entropy", type=float, default=0.01)
    p.add_argument("--hidden", type=int, default=32)
    p.add_argument("--seed", type=int, default=0)
    a = p.parse_args()

    torch.manual_seed(a.seed)
    env = CartPole(a.seed)
    policy = Policy(a.hidden)
    opt = torch.optim.Adam(policy.parameters(), lr=a.lr)
    recent = deque(maxlen=50)

    for upd in range(1, a.updates + 1):
        all_lp, all_ret, all_ent = [], [], []
        for _ in range(a.episodes_per_update):
            lp, ent, rew = rollout(env, policy)
            all_lp.append(lp)
            all_ent.append(ent)
            all_ret.append(returns_to_go(rew, a.gamma))
            recent.append(sum(rew))
        lp, ent, ret = torch.cat(all_lp), torch.cat(all_ent), torch.cat(all_ret)
        weight = (ret - ret.mean()) / (ret.std() + 1e-8)
        pg_loss = (lp * weight).mean()
        loss = pg_loss - a.entropy * ent.mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
        if upd % 10 == 0:
            print(f"update {upd:3d}  loss {loss.item():+.4f}  mean return (last {len(recent)}) {np.mean(recent):.1f}")


if __name__ == "__main__":
    main()
