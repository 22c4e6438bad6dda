"""Double DQN with a slowly following target network on a small pole-balancing simulation."""
import math
import random
from collections import deque, namedtuple

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

Transition = namedtuple("Transition", "obs action reward next_obs terminated")


class Pole:
    """Cart-free inverted pendulum: push left or right, falls beyond 0.3 rad, 100 steps at most."""

    limit = 100

    def __init__(self, seed):
        self.rng = random.Random(seed)

    def reset(self):
        self.angle, self.speed, self.t = self.rng.uniform(-0.1, 0.1), self.rng.uniform(-0.2, 0.2), 0
        return self.obs()

    def obs(self):
        return np.array([self.angle * 5, self.speed], dtype=np.float32)

    def step(self, action):
        push = 6.0 if action == 1 else -6.0
        for _ in range(2):
            self.speed += 0.02 * (9.8 * math.sin(self.angle) + push + self.rng.gauss(0, 0.5))
            self.angle += 0.02 * self.speed
        self.t += 1
        fallen = abs(self.angle) > 0.3
        return self.obs(), 0.0 if fallen else 1.0, fallen, self.t >= self.limit


def make_net():
    return nn.Sequential(nn.Linear(2, 48), nn.ReLU(), nn.Linear(48, 48), nn.ReLU(), nn.Linear(48, 2))


def stack(batch):
    t = Transition(*zip(*batch))
    f = lambda v: torch.as_tensor(np.array(v), dtype=torch.float32)
    return f(t.obs), torch.tensor(t.action), f(t.reward), f(t.next_obs), f(t.terminated)


def learn(online, target, opt, batch, gamma=0.97):
    obs, action, reward, next_obs, terminated = stack(batch)
    with torch.no_grad():
        best = online(next_obs).argmax(1, keepdim=True)
        bootstrap = target(next_obs).gather(1, best).squeeze(1)
        goal = reward + gamma * (1 - terminated) * bootstrap
    value = online(obs).gather(1, action.unsqueeze(1)).squeeze(1)
    loss = F.smooth_l1_loss(value, goal)
    opt.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(online.parameters(), 10.0)
    opt.step()
    with torch.no_grad():
        for p, q in zip(target.parameters(), online.parameters()):
            p.lerp_(q, 0.01)
    return loss.item()


@torch.no_grad()
def evaluate(net, episodes=10):
    env, lengths = Pole(seed=999), []
    for _ in range(episodes):
        obs, over = env.reset(), False
        while not over:
            obs, _, fallen, timeout = env.step(net(torch.from_numpy(obs)).argmax().item())
            over = fallen or timeout
        lengths.append(env.t)
    return sum(lengths) / len(lengths)


def main(steps=6000):
    random.seed(4)
    torch.manual_seed(4)
    env, memory = Pole(seed=4), deque(maxlen=4000)
    online, target = make_net(), make_net()
    target.load_state_dict(online.state_dict())
    target.requires_grad_(False)
    opt = torch.optim.Adam(online.parameters(), lr=1e-3)
    obs, losses = env.reset(), deque(maxlen=300)
    for step in range(1, steps + 1):
        epsilon = max(0.05, 1 - step / 2500)
        if random.random() < epsilon:
            action = random.randrange(2)
        else:
            with torch.no_grad():
                action = online(torch.from_numpy(obs)).argmax().item()
        nxt, reward, fallen, timeout = env.step(action)
        memory.append(Transition(obs, action, reward, nxt, float(fallen)))
        obs = env.reset() if fallen or timeout else nxt
        if step > 500 and step % 2 == 0:
            losses.append(learn(online, target, opt, random.sample(memory, 64)))
        if step % 1500 == 0:
            print(f"step {step} epsilon {epsilon:.2f} td loss {np.mean(losses):.4f} mean balanced steps {evaluate(online):.1f}/100")


if __name__ == "__main__":
    main()
