"""DQN with replay, a target network and Huber loss on a slippery chain; the TD loss grows as values propagate."""
import argparse
import copy
import random
from collections import deque

import torch
import torch.nn.functional as F
from torch import nn


class SlipperyChain:
    def __init__(self, n=10, slip=0.1):
        self.n, self.slip = n, slip

    def reset(self):
        self.s, self.t = 0, 0
        return self.s

    def step(self, action):
        if random.random() < self.slip:
            action = 1 - action
        self.s = min(self.s + 1, self.n - 1) if action else max(self.s - 1, 0)
        self.t += 1
        reward = 1.0 if self.s == self.n - 1 else (0.02 if self.s == 0 else 0.0)
        terminated = self.s == self.n - 1
        return self.s, reward, terminated, self.t >= 60


class QNetwork(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.n = n
        self.net = nn.Sequential(nn.Linear(n, 64), nn.ReLU(), nn.Linear(64, 2))

    def forward(self, s):
        return self.net(F.one_hot(s, self.n).float())


def linear_schedule(start, end, duration, t):
    return max(end, start + (end - start) * t / duration)


def td_loss(q, target, batch, gamma):
    s, a, r, s2, done = (torch.tensor(col) for col in zip(*batch))
    with torch.no_grad():
        best = target(s2).max(dim=1).values
        goal = r + gamma * best * (1 - done.float())
    chosen = q(s).gather(1, a.unsqueeze(1)).squeeze(1)
    return F.smooth_l1_loss(chosen, goal)


@torch.no_grad()
def greedy_success(env, q, rounds=20):
    wins = 0
    for _ in range(rounds):
        s, over = env.reset(), False
        while not over:
            s, r, done, cut = env.step(q(torch.tensor([s])).argmax(1).item())
            over = done or cut
        wins += done
    return wins / rounds


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--total-timesteps", type=int, default=6000)
    p.add_argument("--learning-starts", type=int, default=500)
    p.add_argument("--batch-size", type=int, default=64)
    p.add_argument("--target-frequency", type=int, default=200)
    p.add_argument("--gamma", type=float, default=0.97)
    p.add_argument("--learning-rate", type=float, default=1e-3)
    args = p.parse_args()
    random.seed(0)
    torch.manual_seed(0)
    env, test_env = SlipperyChain(), SlipperyChain()
    q = QNetwork(env.n)
    target = copy.deepcopy(q).requires_grad_(False)
    optimizer = torch.optim.Adam(q.parameters(), lr=args.learning_rate)
    replay = deque(maxlen=5000)
    s = env.reset()
    for step in range(1, args.total_timesteps + 1):
        epsilon = linear_schedule(1.0, 0.05, 0.5 * args.total_timesteps, step)
        if random.random() < epsilon:
            a = random.randrange(2)
        else:
            with torch.no_grad():
                a = q(torch.tensor([s])).argmax(1).item()
        s2, r, done, cut = env.step(a)
        replay.append((s, a, r, s2, done))
        s = env.reset() if done or cut else s2
        if step > args.learning_starts and step % 2 == 0:
            loss = td_loss(q, target, random.sample(replay, args.batch_size), args.gamma)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        if step % args.target_frequency == 0:
            target.load_state_dict(q.state_dict())
        if step % 1000 == 0:
            print(f"step {step} epsilon {epsilon:.2f} td loss {loss.item():.5f} greedy success {greedy_success(test_env, q):.2f}")


if __name__ == "__main__":
    main()
