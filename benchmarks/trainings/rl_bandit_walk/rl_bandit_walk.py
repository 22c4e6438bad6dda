"""Actor-critic on a windy grid; the policy gradient is averaged over a batch of episodes."""
import random
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import nn

MOVES = [(0, 1), (0, -1), (1, 0), (-1, 0)]


@dataclass
class WindyGrid:
    size: int = 6
    limit: int = 30

    def reset(self):
        self.pos, self.clock = [0, random.randrange(self.size)], 0
        return self.encode()

    def encode(self):
        obs = torch.zeros(2, self.size)
        obs[0, self.pos[0]] = obs[1, self.pos[1]] = 1
        return obs.flatten()

    def step(self, a):
        dx, dy = MOVES[a]
        if random.random() < 0.1:
            dy += 1
        self.pos = [min(max(self.pos[0] + dx, 0), self.size - 1), min(max(self.pos[1] + dy, 0), self.size - 1)]
        self.clock += 1
        goal = self.pos == [self.size - 1, 2]
        return self.encode(), 1.0 if goal else -0.05, goal or self.clock >= self.limit


class ActorCritic(nn.Module):
    def __init__(self, n_obs):
        super().__init__()
        self.shared = nn.Sequential(nn.Linear(n_obs, 48), nn.ReLU())
        self.actor = nn.Linear(48, len(MOVES))
        self.critic = nn.Linear(48, 1)

    def forward(self, obs):
        h = self.shared(obs)
        return self.actor(h), self.critic(h).squeeze(-1)


def episode(env, net):
    obs, rows, done = env.reset(), [], False
    while not done:
        with torch.no_grad():
            logits, _ = net(obs)
            action = torch.multinomial(logits.softmax(-1), 1).item()
        nxt, reward, done = env.step(action)
        rows.append((obs, action, reward))
        obs = nxt
    returns, g = [], 0.0
    for _, _, r in reversed(rows):
        g = r + 0.97 * g
        returns.insert(0, g)
    return torch.stack([o for o, _, _ in rows]), torch.tensor([a for _, a, _ in rows]), torch.tensor(returns)


def losses(net, obs, actions, returns):
    logits, values = net(obs)
    log_probs = F.log_softmax(logits, dim=-1)
    chosen = log_probs.gather(1, actions.unsqueeze(1)).squeeze(1)
    advantage = returns - values.detach()
    policy_loss = (chosen * advantage).mean()
    value_loss = F.smooth_l1_loss(values, returns)
    entropy = -(log_probs.exp() * log_probs).sum(-1).mean()
    return policy_loss, value_loss, entropy


def train(updates=60, episodes_per_update=10):
    random.seed(1)
    torch.manual_seed(1)
    env = WindyGrid()
    net = ActorCritic(2 * env.size)
    opt = torch.optim.Adam(net.parameters(), lr=5e-3)
    for update in range(updates):
        batch = [episode(env, net) for _ in range(episodes_per_update)]
        obs, actions, returns = (torch.cat(parts) for parts in zip(*batch))
        p, v, h = losses(net, obs, actions, returns)
        opt.zero_grad()
        (p + 0.5 * v - 0.01 * h).backward()
        nn.utils.clip_grad_norm_(net.parameters(), 0.5)
        opt.step()
        if update % 10 == 9:
            steps = sum(len(b[1]) for b in batch) / len(batch)
            print(f"{update + 1:4d} policy {p.item():+.3f} value {v.item():.3f} entropy {h.item():.3f} episode length {steps:.1f}")


if __name__ == "__main__":
    train()
