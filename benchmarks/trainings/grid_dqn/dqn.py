"""DQN with a slowly moving target network on a 6x6 grid with pits."""
import argparse
import copy
import random
from collections import deque

import numpy as np
import torch
import torch.nn as nn

SIZE = 6
PITS = {(1, 1), (1, 4), (3, 2), (4, 4), (2, 4)}
GOAL = (5, 5)
MOVES = [(0, 1), (1, 0), (0, -1), (-1, 0)]


class Grid:
    def __init__(self, rng, max_steps=40):
        self.rng, self.max_steps = rng, max_steps

    def reset(self):
        while True:
            self.pos = (self.rng.randrange(SIZE), self.rng.randrange(SIZE))
            if self.pos not in PITS and self.pos != GOAL:
                break
        self.t = 0
        return self.obs()

    def obs(self):
        v = np.zeros(2 * SIZE, np.float32)
        v[self.pos[0]] = v[SIZE + self.pos[1]] = 1
        return v

    def step(self, a):
        i, j = self.pos[0] + MOVES[a][0], self.pos[1] + MOVES[a][1]
        if 0 <= i < SIZE and 0 <= j < SIZE:
            self.pos = (i, j)
        self.t += 1
        if self.pos == GOAL:
            return self.obs(), 1.0, True, True
        if self.pos in PITS:
            return self.obs(), -1.0, True, True
        return self.obs(), -0.02, False, self.t >= self.max_steps


def run_greedy(net, env, n=60):
    total = wins = 0
    for _ in range(n):
        o, over = env.reset(), False
        while not over:
            with torch.no_grad():
                a = net(torch.from_numpy(o)).argmax().item()
            o, r, term, over = env.step(a)
            total += r
        wins += r == 1.0
    return total / n, wins / n


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--steps", type=int, default=4000)
    p.add_argument("--gamma", type=float, default=0.95)
    p.add_argument("--tau", type=float, default=0.02)
    p.add_argument("--lr", type=float, default=2e-3)
    a = p.parse_args()
    rng = random.Random(0)
    torch.manual_seed(0)
    env = Grid(rng)
    q = nn.Sequential(nn.Linear(2 * SIZE, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 4))
    target = copy.deepcopy(q).requires_grad_(False)
    opt = torch.optim.Adam(q.parameters(), lr=a.lr)
    memory = deque(maxlen=5000)
    print("untrained: return %.2f, reached goal %.2f" % run_greedy(q, env))
    o = env.reset()
    for step in range(1, a.steps + 1):
        eps = max(0.1, 1 - step / 2000)
        if rng.random() < eps:
            act = rng.randrange(4)
        else:
            with torch.no_grad():
                act = q(torch.from_numpy(o)).argmax().item()
        o2, r, term, over = env.step(act)
        memory.append((o, act, r, o2, float(term)))   # running out of time is not terminal
        o = env.reset() if over else o2
        if len(memory) >= 200 and step % 2 == 0:
            s, ac, rw, s2, d = zip(*rng.sample(memory, 64))
            s, s2 = torch.from_numpy(np.stack(s)), torch.from_numpy(np.stack(s2))
            ac, rw, d = torch.tensor(ac), torch.tensor(rw), torch.tensor(d)
            best = q(s2).detach().argmax(1, keepdim=True)
            goal = rw + a.gamma * (1 - d) * target(s2).gather(1, best)[:, 0]
            loss = nn.functional.smooth_l1_loss(q(s).gather(1, ac[:, None])[:, 0], goal)
            opt.zero_grad()
            loss.backward()
            opt.step()
            with torch.no_grad():
                for tp, qp in zip(target.parameters(), q.parameters()):
                    tp.lerp_(qp, a.tau)
        if step % 1000 == 0:
            print("step %d loss %.4f return %.2f reached goal %.2f" % (step, loss.item(), *run_greedy(q, env)))
            o = env.reset()


if __name__ == "__main__":
    main()
