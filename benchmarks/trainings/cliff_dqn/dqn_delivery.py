"""DQN for a delivery robot on a line: reach the door gently and hand the parcel over."""
import random
from collections import deque

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

SEED = 17
random.seed(SEED)
np.random.seed(SEED)
torch.manual_seed(SEED)


class KerbLine:
    """Cells 0..8, door at 8. Actions: roll one cell, dash two cells, hand over.

    Dashing into the door is a collision and ends the episode, so does handing over.
    """

    n_actions = 3

    def reset(self):
        self.pos = random.choice([0, 2, 4])
        self.t = 0
        return self._obs()

    def _obs(self):
        v = np.zeros(9, dtype=np.float32)
        v[self.pos] = 1.0
        return v

    def step(self, action):
        self.t += 1
        if action == 2:
            reward = 1.0 if self.pos == 8 else -0.5
            return self._obs(), reward, True, False
        before, self.pos = self.pos, min(8, self.pos + 1 + action)
        if action == 1 and before >= 6:
            return self._obs(), -0.4, True, False
        return self._obs(), -0.05, False, self.t >= 30


class QNet(nn.Module):
    def __init__(self, n_obs=9, n_actions=3, hidden=48):
        super().__init__()
        self.fc1 = nn.Linear(n_obs, hidden)
        self.fc2 = nn.Linear(hidden, n_actions)

    def forward(self, x):
        return self.fc2(torch.relu(self.fc1(x)))


class Replay:
    def __init__(self, capacity=5000):
        self.buffer = deque(maxlen=capacity)

    def push(self, *item):
        self.buffer.append(item)

    def sample(self, n):
        s, a, r, s2, done = zip(*random.sample(self.buffer, n))
        as_t = lambda v, d=torch.float32: torch.as_tensor(np.array(v), dtype=d)
        return as_t(s), as_t(a, torch.int64), as_t(r), as_t(s2), as_t(done)


def td_loss(q, target, batch, gamma):
    s, a, r, s2, done = batch
    q_sa = q(s).gather(1, a.unsqueeze(1)).squeeze(1)
    with torch.no_grad():
        best_next = target(s2).max(dim=1).values
        y = r + gamma * best_next
    return F.smooth_l1_loss(q_sa, y)


def evaluate(q, episodes=50):
    env, returns = KerbLine(), []
    for _ in range(episodes):
        obs, total, over = env.reset(), 0.0, False
        while not over:
            with torch.no_grad():
                action = q(torch.from_numpy(obs)).argmax().item()
            obs, r, terminated, truncated = env.step(action)
            total += r
            over = terminated or truncated
        returns.append(total)
    return float(np.mean(returns))


def main(total_steps=5000, gamma=0.95, batch=64, sync_every=200):
    env, replay = KerbLine(), Replay()
    q, target = QNet(), QNet()
    target.load_state_dict(q.state_dict())
    opt = torch.optim.Adam(q.parameters(), lr=1e-3)
    obs, losses = env.reset(), deque(maxlen=200)
    for step in range(1, total_steps + 1):
        eps = max(0.1, 1.0 - step / 3000)
        if random.random() < eps:
            action = random.randrange(env.n_actions)
        else:
            with torch.no_grad():
                action = q(torch.from_numpy(obs)).argmax().item()
        nxt, r, terminated, truncated = env.step(action)
        replay.push(obs, action, r, nxt, float(terminated))
        obs = env.reset() if terminated or truncated else nxt
        if step > 300:
            loss = td_loss(q, target, replay.sample(batch), gamma)
            opt.zero_grad()
            loss.backward()
            opt.step()
            losses.append(loss.item())
        if step % sync_every == 0:
            target.load_state_dict(q.state_dict())
        if step % 1000 == 0:
            with torch.no_grad():
                top = q(torch.eye(9)).max().item()
            print(f"step {step} eps {eps:.2f} loss {np.mean(losses):.4f} max_q {top:.2f} eval_return {evaluate(q):.3f}")


if __name__ == "__main__":
    main()
