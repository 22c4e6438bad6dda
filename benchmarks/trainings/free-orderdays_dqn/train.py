"""Double DQN for one product with lost sales, a lead time and fixed supplier days.

The store can place an order only on the days on which the supplier takes orders
(Monday and Thursday), and never more than fits into the back room.
"""
import argparse
import copy
import time

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

ORDER_DAYS = (0, 3)
WEEKDAY_MEAN = np.array([3.0, 3.0, 3.5, 4.0, 6.0, 7.0, 2.0])
CAPACITY = 40
MAX_ORDER = 30
STEP = 2                      # orders come in packs
N_ACTIONS = MAX_ORDER // STEP + 1
LEAD_TIME = 1


class StoreEnv:
    """A batch of independent stores: order, receive, sell, pay."""

    def __init__(self, n, rng, holding=0.25, lost=4.0, fixed=2.0):
        self.n, self.rng = n, rng
        self.holding, self.lost, self.fixed = holding, lost, fixed

    def reset(self):
        self.stock = self.rng.integers(5, 25, self.n).astype(np.float32)
        self.pipeline = np.zeros((self.n, LEAD_TIME), dtype=np.float32)
        self.day = self.rng.integers(0, 7, self.n)
        return self.observe()

    def observe(self):
        week = np.eye(7, dtype=np.float32)[self.day]
        return np.concatenate([self.stock[:, None] / CAPACITY, self.pipeline / CAPACITY, week], axis=1)

    def step(self, action):
        order = action.astype(np.float32) * STEP
        arriving = self.pipeline[:, 0].copy()
        self.pipeline = np.concatenate([self.pipeline[:, 1:], order[:, None]], axis=1)
        self.stock += arriving
        demand = self.rng.poisson(WEEKDAY_MEAN[self.day]).astype(np.float32)
        sold = np.minimum(self.stock, demand)
        missed = demand - sold
        self.stock = self.stock - sold
        cost = self.holding * self.stock + self.lost * missed + self.fixed * (order > 0)
        self.day = (self.day + 1) % 7
        return self.observe(), -cost, sold, demand


def allowed_orders(obs):
    """Boolean matrix (batch, actions): what may be ordered in each state."""
    room = CAPACITY * (1.0 - obs[:, : 1 + LEAD_TIME].sum(1, keepdim=True))
    sizes = torch.arange(N_ACTIONS) * STEP
    fits = sizes[None, :] <= room + 1e-4
    is_open = obs[:, 1 + LEAD_TIME:][:, list(ORDER_DAYS)].sum(1, keepdim=True) > 0.5
    allowed = fits & is_open
    allowed[:, 0] = True
    return allowed


class QNet(nn.Module):
    def __init__(self, n_in, hidden=64):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(n_in, hidden), nn.ReLU(), nn.Linear(hidden, hidden), nn.ReLU())
        self.value = nn.Linear(hidden, 1)
        self.adv = nn.Linear(hidden, N_ACTIONS)

    def forward(self, x):
        h = self.body(x)
        a = self.adv(h)
        return self.value(h) + a - a.mean(1, keepdim=True)


class Replay:
    def __init__(self, size, n_obs):
        self.obs = torch.zeros(size, n_obs)
        self.act = torch.zeros(size, dtype=torch.long)
        self.rew = torch.zeros(size)
        self.nxt = torch.zeros(size, n_obs)
        self.size, self.head, self.full = size, 0, 0

    def add(self, obs, act, rew, nxt):
        idx = (self.head + torch.arange(len(act))) % self.size
        self.obs[idx], self.act[idx], self.rew[idx], self.nxt[idx] = obs, act, rew, nxt
        self.head = (self.head + len(act)) % self.size
        self.full = min(self.full + len(act), self.size)

    def sample(self, n):
        idx = torch.randint(self.full, (n,))
        return self.obs[idx], self.act[idx], self.rew[idx], self.nxt[idx]


@torch.no_grad()
def choose(net, obs, eps):
    allowed = allowed_orders(obs)
    greedy = net(obs).masked_fill(~allowed, -1e9).argmax(1)
    random = torch.multinomial(allowed.float(), 1).squeeze(1)
    return torch.where(torch.rand(len(obs)) < eps, random, greedy)


def td_loss(net, target, batch, gamma):
    obs, act, rew, nxt = batch
    q = net(obs).gather(1, act[:, None]).squeeze(1)
    with torch.no_grad():
        best = net(nxt).argmax(1, keepdim=True)
        backup = target(nxt).gather(1, best).squeeze(1)
        y = rew + gamma * backup
    return F.smooth_l1_loss(q, y)


def evaluate(net, seed, n=200, days=140):
    env = StoreEnv(n, np.random.default_rng(seed))
    obs = torch.from_numpy(env.reset())
    cost, sold, demand = 0.0, 0.0, 0.0
    for _ in range(days):
        obs, rew, s, d = env.step(choose(net, obs, 0.0).numpy())
        obs = torch.from_numpy(obs)
        cost, sold, demand = cost - rew.mean(), sold + s.sum(), demand + d.sum()
    return cost / days, sold / demand


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--seed", type=int, default=0)
    p.add_argument("--steps", type=int, default=3000)
    p.add_argument("--envs", type=int, default=32)
    p.add_argument("--gamma", type=float, default=0.95)
    p.add_argument("--lr", type=float, default=1e-3)
    args = p.parse_args()
    torch.manual_seed(args.seed)
    torch.set_num_threads(1)
    env = StoreEnv(args.envs, np.random.default_rng(args.seed))
    obs = torch.from_numpy(env.reset())
    net = QNet(obs.shape[1])
    target = copy.deepcopy(net)
    opt = torch.optim.Adam(net.parameters(), lr=args.lr)
    replay = Replay(30_000, obs.shape[1])
    start = time.time()
    for step in range(1, args.steps + 1):
        eps = max(0.05, 1.0 - step / (0.5 * args.steps))
        act = choose(net, obs, eps)
        nxt, rew, _, _ = env.step(act.numpy())
        nxt = torch.from_numpy(nxt)
        replay.add(obs, act, torch.from_numpy(rew).float() / 10.0, nxt)
        obs = nxt
        if step < 50:
            continue
        loss = td_loss(net, target, replay.sample(256), args.gamma)
        opt.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(net.parameters(), 5.0)
        opt.step()
        with torch.no_grad():
            for pt, pn in zip(target.parameters(), net.parameters()):
                pt.lerp_(pn, 0.01)
        if step % 500 == 0:
            cost, fill = evaluate(net, seed=1234, n=50, days=70)
            print(f"step {step:5d}  eps {eps:.2f}  loss {loss.item():.4f}  cost/day {cost:.3f}  fill rate {fill:.3f}")
    cost, fill = evaluate(net, seed=99)
    print(f"final: cost per day {cost:.3f}  fill rate {fill:.3f}  ({time.time() - start:.1f}s)")


if __name__ == "__main__":
    main()
