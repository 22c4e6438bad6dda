"""REINFORCE for an elevator that has to fetch one waiting person in a house of seven floors."""

import numpy as np
import torch
from torch import nn
from torch.distributions import Categorical

torch.manual_seed(2)
rng = np.random.default_rng(2)
FLOORS, HORIZON = 7, 12


class Elevator:
    """Actions: down, stay, up. Reward 1 when the floors agree and it stays, a small cost for each step."""

    def reset(self):
        self.car, self.person, self.time = rng.integers(FLOORS), rng.integers(FLOORS), 0
        return self.state()

    def state(self):
        out = np.zeros(2 * FLOORS, dtype=np.float32)
        out[self.car] = 1.0
        out[FLOORS + self.person] = 1.0
        return out

    def step(self, action):
        self.time += 1
        if action == 1 and self.car == self.person:
            return self.state(), 1.0, True
        self.car = int(np.clip(self.car + action - 1, 0, FLOORS - 1))
        return self.state(), -0.05, self.time >= HORIZON


class Policy(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(2 * FLOORS, 64), nn.ReLU(), nn.Linear(64, 3))

    def forward(self, x):
        return Categorical(logits=self.body(x))


def rollout(env, policy):
    log_probs, rewards = [], []
    state, done = env.reset(), False
    while not done:
        dist = policy(torch.from_numpy(state))
        action = dist.sample()
        log_probs.append(dist.log_prob(action))
        state, reward, done = env.step(action.item())
        rewards.append(reward)
    returns, total = [], 0.0
    for reward in reversed(rewards):
        total = reward + 0.97 * total
        returns.insert(0, total)
    return torch.stack(log_probs), torch.tensor(returns), sum(rewards)


env, policy = Elevator(), Policy()
optimizer = torch.optim.Adam(policy.parameters(), lr=5e-3)
scores = []
for update in range(1, 151):
    episodes = [rollout(env, policy) for _ in range(8)]
    log_probs = torch.cat([episode[0] for episode in episodes])
    returns = torch.cat([episode[1] for episode in episodes])
    advantage = (returns - returns.mean()) / (returns.std() + 1e-6)
    loss = (log_probs * advantage).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    scores += [episode[2] for episode in episodes]
    if update % 30 == 0:
        print(f"update {update} loss {loss.item():.3f} mean return {np.mean(scores[-160:]):.3f}")
