"""Advantage actor-critic with lambda-returns on a balancing task (cart-pole, vectorised)."""
from dataclasses import dataclass

import numpy as np
import torch
import torch.nn as nn


@dataclass
class Cfg:
    n_env: int = 24
    T: int = 32
    iters: int = 250
    gamma: float = 0.99
    lam: float = 0.95
    lr: float = 2.5e-3
    ent: float = 0.01
    time_limit: int = 200


class Poles:
    def __init__(self, c, seed):
        self.c, self.r = c, np.random.default_rng(seed)
        self.s = self.r.uniform(-0.05, 0.05, (c.n_env, 4))
        self.k = np.zeros(c.n_env, int)

    def step(self, a):
        x, v, th, w = self.s.T
        f = 20.0 * a - 10.0
        sn, cs = np.sin(th), np.cos(th)
        tmp = (f + 0.05 * w ** 2 * sn) / 1.1
        wa = (9.8 * sn - cs * tmp) / (0.5 * (4 / 3 - 0.1 * cs ** 2 / 1.1))
        va = tmp - 0.05 * wa * cs / 1.1
        self.s = np.stack([x + 0.02 * v, v + 0.02 * va, th + 0.02 * w, w + 0.02 * wa], 1)
        self.k += 1
        fell = (abs(self.s[:, 0]) > 2.4) | (abs(self.s[:, 2]) > 0.2095)
        late = (self.k >= self.c.time_limit) & ~fell
        after = self.s.copy()
        ended = fell | late
        lengths = self.k[ended].tolist()
        self.s[ended] = self.r.uniform(-0.05, 0.05, (ended.sum(), 4))
        self.k[ended] = 0
        return after, fell, late, lengths


def t(a):
    return torch.as_tensor(np.asarray(a), dtype=torch.float32)


def main(c=Cfg()):
    torch.manual_seed(0)
    env = Poles(c, 0)
    pi = nn.Sequential(nn.Linear(4, 32), nn.Tanh(), nn.Linear(32, 2))
    vf = nn.Sequential(nn.Linear(4, 64), nn.Tanh(), nn.Linear(64, 1))
    opt = torch.optim.Adam([*pi.parameters(), *vf.parameters()], lr=c.lr)
    scale = t([1.0, 1.0, 5.0, 1.0])
    lengths = []
    for it in range(1, c.iters + 1):
        S, A, S2, F_, L_ = [], [], [], [], []
        for _ in range(c.T):
            s = env.s.copy()
            with torch.no_grad():
                a = torch.distributions.Categorical(logits=pi(t(s) * scale)).sample()
            s2, fell, late, ln = env.step(a.numpy())
            lengths += ln
            S.append(t(s) * scale), A.append(a), S2.append(t(s2) * scale), F_.append(t(fell)), L_.append(t(late))
        S, A, S2, fell, late = map(torch.stack, (S, A, S2, F_, L_))
        with torch.no_grad():
            v, v2 = vf(S).squeeze(-1), vf(S2).squeeze(-1)
            # a fall ends the future; running out of time only ends the recording, so v2 still counts
            delta = 1.0 + c.gamma * v2 * (1 - fell) - v
            adv, run = torch.zeros_like(delta), torch.zeros(c.n_env)
            for k in reversed(range(c.T)):
                run = delta[k] + c.gamma * c.lam * run * (1 - fell[k]) * (1 - late[k])
                adv[k] = run
            ret = adv + v
            adv = (adv - adv.mean()) / (adv.std() + 1e-6)
        dist = torch.distributions.Categorical(logits=pi(S))
        loss = -(dist.log_prob(A) * adv).mean() - c.ent * dist.entropy().mean() + 0.5 * (vf(S).squeeze(-1) - ret).pow(2).mean()
        for g in opt.param_groups:
            g["lr"] = c.lr * (1 - it / (c.iters + 1))
        opt.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(pi.parameters(), 0.5)      # the critic is left free
        opt.step()
        if it % 50 == 0:
            print(f"iter {it} loss {loss.item():+.3f} mean length of last 40 episodes {np.mean(lengths[-40:]):.1f}")
    print(f"first 40 episodes {np.mean(lengths[:40]):.1f}")


if __name__ == "__main__":
    main()
