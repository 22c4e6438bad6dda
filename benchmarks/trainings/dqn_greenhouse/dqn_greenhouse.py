"""DQN that keeps a greenhouse near its set temperature by venting, doing nothing or heating."""

import random
from collections import deque

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn

SEED = 19
random.seed(SEED)
np.random.seed(SEED)
torch.manual_seed(SEED)


class Greenhouse:
    def reset(self):
        self.temp, self.outside, self.t = np.random.uniform(-1, 1), np.random.uniform(-0.6, 0.6), 0
        return np.array([self.temp, self.outside], dtype=np.float32)

    def step(self, action):
        self.t += 1
        self.outside += 0.05 * np.random.randn()
        self.temp += 0.2 * (self.outside - self.temp) + (action - 1) * 0.25
        reward = 1.0 - min(abs(self.temp), 1.5) - 0.05 * (action != 1)
        return np.array([self.temp, self.outside], dtype=np.float32), reward, self.t >= 30


def q_net():
    return nn.Sequential(nn.Linear(2, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 3))


class Agent:
    def __init__(self, gamma=0.9, lr=1e-3):
        self.online, self.target = q_net(), q_net()
        self.target.load_state_dict(self.online.state_dict())
        self.optimizer = torch.optim.Adam(self.online.parameters(), lr=lr)
        self.memory = deque(maxlen=5000)
        self.gamma = gamma

    def act(self, state, epsilon):
        if random.random() < epsilon:
            return random.randrange(3)
        with torch.no_grad():
            return self.online(torch.from_numpy(state)).argmax().item()

    def learn(self, batch_size=64):
        if len(self.memory) < 500:
            return None
        state, action, reward, following, done = zip(*random.sample(self.memory, batch_size))
        state, following = torch.from_numpy(np.stack(state)), torch.from_numpy(np.stack(following))
        action = torch.tensor(action).unsqueeze(1)
        reward, done = torch.tensor(reward, dtype=torch.float32), torch.tensor(done, dtype=torch.float32)
        q = self.online(state).gather(1, action)
        with torch.no_grad():
            best = self.target(following).max(dim=1).values
            goal = reward + self.gamma * (1 - done) * best
        loss = F.smooth_l1_loss(q, goal)
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        return loss.item()


env, agent = Greenhouse(), Agent()
returns, losses = [], []
for episode in range(1, 121):
    state, done, total = env.reset(), False, 0.0
    epsilon = max(0.05, 1.0 - episode / 60)
    while not done:
        action = agent.act(state, epsilon)
        following, reward, done = env.step(action)
        agent.memory.append((state, action, reward, following, done))
        state, total = following, total + reward
        losses.append(agent.learn())
    returns.append(total)
    if episode % 5 == 0:
        agent.target.load_state_dict(agent.online.state_dict())
    if episode % 20 == 0:
        seen = [loss for loss in losses[-600:] if loss is not None]
        print(f"episode {episode} return {np.mean(returns[-20:]):.2f} loss {np.mean(seen) if seen else float('nan'):.4f}")
