"""DQN on a chain walk with a delayed reward."""

import random
from collections import deque

import torch
import torch.nn as nn
import torch.nn.functional as F

LENGTH = 10


class ChainEnv:
    """Walk right to the end of the chain for a reward; going left pays a little at once."""

    def reset(self):
        self.pos, self.t = 2, 0
        return self.obs()

    def obs(self):
        return F.one_hot(torch.tensor(self.pos), LENGTH).float()

    def step(self, action):
        self.t += 1
        self.pos = max(0, self.pos - 1) if action == 0 else min(LENGTH - 1, self.pos + 1)
        reward = 0.05 if self.pos == 0 else 1.0 if self.pos == LENGTH - 1 else 0.0
        return self.obs(), reward, self.t >= 25


class QNet(nn.Module):
    def __init__(self, hidden=48):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(LENGTH, hidden), nn.ReLU(), nn.Linear(hidden, 2))

    def forward(self, x):
        return self.net(x)


class Agent:
    def __init__(self, gamma=0.95, lr=2e-3):
        self.online, self.target = QNet(), QNet()
        self.target.load_state_dict(self.online.state_dict())
        self.optimizer = torch.optim.Adam(self.target.parameters(), lr=lr)
        self.buffer = deque(maxlen=5000)
        self.gamma = gamma

    def act(self, obs, eps):
        if random.random() < eps:
            return random.randrange(2)
        with torch.no_grad():
            return self.online(obs).argmax().item()

    def learn(self, batch_size=64):
        if len(self.buffer) < 200:
            return None
        obs, action, reward, nxt, done = zip(*random.sample(self.buffer, batch_size))
        obs, nxt = torch.stack(obs), torch.stack(nxt)
        action = torch.tensor(action)
        reward, done = torch.tensor(reward), torch.tensor(done, dtype=torch.float32)
        with torch.no_grad():
            goal = reward + self.gamma * (1 - done) * self.target(nxt).max(1).values
        q = self.online(obs).gather(1, action[:, None]).squeeze(1)
        loss = F.smooth_l1_loss(q, goal)
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        return loss.item()

    def sync(self):
        self.target.load_state_dict(self.online.state_dict())


def main(episodes=80):
    random.seed(9)
    torch.manual_seed(9)
    env, agent = ChainEnv(), Agent()
    scores, losses = [], []
    for episode in range(1, episodes + 1):
        obs, done, score = env.reset(), False, 0.0
        eps = max(0.05, 1.0 - episode / 40)
        while not done:
            action = agent.act(obs, eps)
            nxt, reward, done = env.step(action)
            agent.buffer.append((obs, action, reward, nxt, done))
            obs, score = nxt, score + reward
            loss = agent.learn()
            if loss is not None:
                losses.append(loss)
        scores.append(score)
        if episode % 4 == 0:
            agent.sync()
        if episode % 10 == 0:
            recent = losses[-200:] or [float("nan")]
            print(f"episode {episode} return {sum(scores[-10:]) / 10:.2f} td loss {sum(recent) / len(recent):.4f} eps {eps:.2f}")


if __name__ == "__main__":
    main()
