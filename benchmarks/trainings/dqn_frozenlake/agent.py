import copy
import random
from collections import deque

import numpy as np
import torch
from torch import nn


class Dueling(nn.Module):
    def __init__(self, obs, acts, width=64):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(obs, width), nn.ReLU(), nn.Linear(width, width), nn.ReLU())
        self.value = nn.Linear(width, 1)
        self.adv = nn.Linear(width, acts)

    def forward(self, x):
        h = self.body(x)
        a = self.adv(h)
        return self.value(h) + a - a.mean(-1, keepdim=True)


class Replay:
    def __init__(self, size):
        self.store = deque(maxlen=size)

    def add(self, *item):
        self.store.append(item)

    def draw(self, n):
        cols = zip(*random.sample(self.store, n))
        s, a, r, s2, d = (np.asarray(c) for c in cols)
        f = torch.as_tensor
        return f(s, dtype=torch.float32), f(a), f(r, dtype=torch.float32), f(s2, dtype=torch.float32), f(d, dtype=torch.float32)

    def __len__(self):
        return len(self.store)


class Agent:
    def __init__(self, obs, acts, lr=1e-3, gamma=0.95, tau=0.01):
        self.q = Dueling(obs, acts)
        self.target = copy.deepcopy(self.q)
        for p in self.target.parameters():
            p.requires_grad_(False)
        self.opt = torch.optim.Adam(self.q.parameters(), lr=lr)
        self.gamma, self.tau, self.acts = gamma, tau, acts

    def act(self, s, eps, averaged=False):
        if random.random() < eps:
            return random.randrange(self.acts)
        with torch.no_grad():
            net = self.target if averaged else self.q
            return int(net(torch.as_tensor(s, dtype=torch.float32)).argmax())

    def learn(self, batch):
        s, a, r, s2, d = batch
        with torch.no_grad():
            best = self.q(s2).argmax(-1, keepdim=True)
            goal = r + self.gamma * (1 - d) * self.target(s2).gather(1, best).squeeze(1)
        now = self.q(s).gather(1, a[:, None]).squeeze(1)
        loss = nn.functional.smooth_l1_loss(now, goal)
        self.opt.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(self.q.parameters(), 10.0)
        self.opt.step()
        with torch.no_grad():
            for t, p in zip(self.target.parameters(), self.q.parameters()):
                t.mul_(1 - self.tau).add_(p, alpha=self.tau)
        return loss.item()
