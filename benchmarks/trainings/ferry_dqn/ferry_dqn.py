"""Deep Q-learning for loading a ferry: wait for more cars or leave now?

State: cars queued, minutes since the last departure, hour. Leaving earns one per car taken (20 at most)
minus a fixed trip cost of 6; every waiting minute costs 0.02 per queued car.
"""
import argparse
import copy
import random
from collections import deque

import numpy as np
import torch
from torch import nn


class Ferry:
    def __init__(self, seed):
        self.r = np.random.default_rng(seed)

    def reset(self):
        self.cars, self.idle, self.t = 0, 0, 0
        return self.state()

    def state(self):
        return np.array([self.cars / 20, self.idle / 20, self.t / 120], np.float32)

    def step(self, leave):
        reward = -0.02 * self.cars
        if leave:
            reward += min(self.cars, 20) - 6
            self.cars = max(0, self.cars - 20)
            self.idle = 0
        self.idle += 1
        self.t += 1
        rate = 0.6 + 1.2 * (30 < self.t < 80)
        self.cars = min(40, self.cars + self.r.poisson(rate))
        return self.state(), reward, self.t >= 120


def play(policy, seeds):
    total = 0.0
    for s in seeds:
        env = Ferry(s)
        obs, done = env.reset(), False
        while not done:
            obs, r, done = env.step(policy(obs))
            total += r
    return total / len(seeds)


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--episodes", type=int, default=45)
    ap.add_argument("--gamma", type=float, default=0.97)
    ap.add_argument("--sync", type=int, default=200)
    args = ap.parse_args()
    random.seed(0)
    torch.manual_seed(0)

    q = nn.Sequential(nn.Linear(3, 48), nn.ReLU(), nn.Linear(48, 48), nn.ReLU(), nn.Linear(48, 2))
    target = copy.deepcopy(q)
    for p in target.parameters():
        p.requires_grad = False
    opt = torch.optim.Adam(q.parameters(), lr=1e-3)
    memory = deque(maxlen=20000)
    env, steps = Ferry(123), 0
    for ep in range(args.episodes):
        obs, done = env.reset(), False
        eps = max(0.05, 1 - ep / 25)
        last = []
        while not done:
            if random.random() < eps:
                a = int(random.random() < 0.2)
            else:
                with torch.no_grad():
                    a = int(q(torch.from_numpy(obs)).argmax())
            nxt, r, done = env.step(a)
            memory.append((obs, a, r, nxt, float(done)))
            obs = nxt
            steps += 1
            if len(memory) < 300:
                continue
            s, act, rew, s2, d = map(np.array, zip(*random.sample(memory, 64)))
            s, s2 = torch.from_numpy(s), torch.from_numpy(s2)
            rew, d = torch.from_numpy(rew).float() / 5, torch.from_numpy(d).float()
            with torch.no_grad():
                best = q(s2).argmax(1, keepdim=True)
                y = rew + args.gamma * (1 - d) * target(s2).gather(1, best).squeeze(1)
            pred = q(s).gather(1, torch.from_numpy(act).view(-1, 1)).squeeze(1)
            loss = nn.functional.smooth_l1_loss(pred, y)
            opt.zero_grad()
            loss.backward()
            opt.step()
            last.append(loss.item())
            if steps % args.sync == 0:
                target.load_state_dict(q.state_dict())
        if ep % 9 == 8:
            print(f"episode {ep + 1} eps {eps:.2f} td loss {np.mean(last) if last else 0:.4f}")

    days = range(900, 915)
    greedy = lambda o: int(q(torch.from_numpy(o)).argmax())
    with torch.no_grad():
        print(f"learned policy: {play(greedy, days):.1f} per day")
    coin = np.random.default_rng(1)
    print(f"leave at random: {play(lambda o: int(coin.random() < 0.1), days):.1f}, every 10 minutes: {play(lambda o: int(o[1] * 20 >= 10), days):.1f}")


if __name__ == "__main__":
    main()
