"""One-step advantage actor-critic on a batch of cart-poles."""
from dataclasses import dataclass

import numpy as np
import torch
import torch.nn as nn
from torch.distributions import Categorical


@dataclass
class HP:
    envs: int = 16
    horizon: int = 16
    updates: int = 350
    gamma: float = 0.98
    lr: float = 3e-3
    value_coef: float = 0.5
    entropy_coef: float = 0.01
    seed: int = 2


class VecCartPole:
    def __init__(self, n, seed):
        self.n, self.rng = n, np.random.default_rng(seed)
        self.s = self._fresh(n)
        self.t = np.zeros(n, int)

    def _fresh(self, k):
        return self.rng.uniform(-0.05, 0.05, (k, 4))

    def obs(self):
        return torch.tensor(self.s, dtype=torch.float32)

    def step(self, a):
        x, xd, th, thd = self.s.T
        f = np.where(a == 1, 10.0, -10.0)
        c, s = np.cos(th), np.sin(th)
        tmp = (f + 0.05 * thd ** 2 * s) / 1.1
        tha = (9.8 * s - c * tmp) / (0.5 * (4 / 3 - 0.1 * c ** 2 / 1.1))
        xa = tmp - 0.05 * tha * c / 1.1
        self.s = np.stack([x + 0.02 * xd, xd + 0.02 * xa, th + 0.02 * thd, thd + 0.02 * tha], 1)
        self.t += 1
        done = (np.abs(self.s[:, 0]) > 2.4) | (np.abs(self.s[:, 2]) > 0.2095)
        lengths = self.t[done].tolist()
        nxt = self.obs()
        self.s[done] = self._fresh(done.sum())
        self.t[done] = 0
        over = self.t >= 500
        lengths += self.t[over].tolist()
        self.s[over], self.t[over] = self._fresh(over.sum()), 0
        return nxt, np.ones(self.n), done, lengths


class ActorCritic(nn.Module):
    def __init__(self, h=64):
        super().__init__()
        self.actor = nn.Sequential(nn.Linear(4, h), nn.Tanh(), nn.Linear(h, 2))
        self.critic = nn.Sequential(nn.Linear(4, h), nn.Tanh(), nn.Linear(h, h), nn.Tanh(), nn.Linear(h, 1))

    def forward(self, x):
        return Categorical(logits=self.actor(x)), self.critic(x).squeeze(-1)


def main(hp=HP()):
    torch.manual_seed(hp.seed)
    env = VecCartPole(hp.envs, hp.seed)
    net = ActorCritic()
    opt = torch.optim.Adam(net.parameters(), lr=hp.lr)
    recent = []
    for u in range(1, hp.updates + 1):
        obs, acts, nexts, rews, dones = [], [], [], [], []
        for _ in range(hp.horizon):
            o = env.obs()
            with torch.no_grad():
                a = net(o)[0].sample()
            n, r, d, lengths = env.step(a.numpy())
            obs.append(o), acts.append(a), nexts.append(n)
            rews.append(torch.tensor(r, dtype=torch.float32))
            dones.append(torch.tensor(d))
            recent += lengths
        o, a, n = torch.cat(obs), torch.cat(acts), torch.cat(nexts)
        r, d = torch.cat(rews), torch.cat(dones).float()
        with torch.no_grad():
            target = r + hp.gamma * net(n)[1]
        dist, v = net(o)
        adv = (target - v).detach()
        adv = (adv - adv.mean()) / (adv.std() + 1e-8)
        loss = -(dist.log_prob(a) * adv).mean() + hp.value_coef * (target - v).pow(2).mean() - hp.entropy_coef * dist.entropy().mean()
        opt.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(net.parameters(), 0.5)
        opt.step()
        if u % 50 == 0:
            tail = recent[-60:]
            print(f"update {u} episodes {len(recent)} mean length {np.mean(tail):.1f} value {v.mean().item():.1f} done {int(d.sum())}")


if __name__ == "__main__":
    main()
