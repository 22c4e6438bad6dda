"""REINFORCE with a moving baseline on a small grid with a pit."""

import random

import torch
import torch.nn as nn
from torch.distributions import Categorical

SIZE = 5
GOAL, PIT = (4, 4), (2, 2)
MOVES = [(-1, 0), (1, 0), (0, -1), (0, 1)]


class GridEnv:
    def __init__(self, max_steps=20):
        self.max_steps = max_steps

    def reset(self):
        self.pos, self.t = (random.randint(0, 1), random.randint(0, 1)), 0
        return self._obs()

    def _obs(self):
        grid = torch.zeros(SIZE * SIZE)
        grid[self.pos[0] * SIZE + self.pos[1]] = 1.0
        return grid

    def step(self, action):
        dr, dc = MOVES[action]
        self.pos = (min(max(self.pos[0] + dr, 0), SIZE - 1), min(max(self.pos[1] + dc, 0), SIZE - 1))
        self.t += 1
        if self.pos == GOAL:
            return self._obs(), 10.0, True
        if self.pos == PIT:
            return self._obs(), -5.0, True
        return self._obs(), -0.1, self.t >= self.max_steps


class Policy(nn.Module):
    def __init__(self, hidden=64):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(SIZE * SIZE, hidden), nn.Tanh(), nn.Linear(hidden, len(MOVES)))

    def forward(self, obs):
        return Categorical(logits=self.net(obs))


def run_episode(env, policy):
    obs, done = env.reset(), False
    log_probs, rewards, entropies = [], [], []
    while not done:
        dist = policy(obs)
        action = dist.sample()
        obs, reward, done = env.step(action.item())
        log_probs.append(dist.log_prob(action))
        entropies.append(dist.entropy())
        rewards.append(reward)
    return log_probs, rewards, entropies


def discounted(rewards, gamma=0.97):
    out, running = [], 0.0
    for r in reversed(rewards):
        running = r + gamma * running
        out.append(running)
    return torch.tensor(out[::-1])


def main(updates=100, episodes_per_update=8):
    random.seed(4)
    torch.manual_seed(4)
    env, policy = GridEnv(), Policy()
    optimizer = torch.optim.Adam(policy.parameters(), lr=5e-3)
    baseline = 0.0
    for update in range(1, updates + 1):
        losses, scores = [], []
        for _ in range(episodes_per_update):
            log_probs, rewards, entropies = run_episode(env, policy)
            returns = discounted(rewards)
            advantage = returns - baseline
            baseline = 0.95 * baseline + 0.05 * returns[0].item()
            policy_loss = (torch.stack(log_probs) * advantage).sum()
            losses.append(policy_loss - 0.01 * torch.stack(entropies).sum())
            scores.append(sum(rewards))
        loss = torch.stack(losses).mean()
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(policy.parameters(), 5.0)
        optimizer.step()
        if update % 10 == 0:
            print(f"update {update}: loss {loss.item():.3f} mean return {sum(scores) / len(scores):.2f}")


if __name__ == "__main__":
    main()
