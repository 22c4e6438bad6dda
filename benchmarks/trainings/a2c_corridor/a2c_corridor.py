"""Advantage actor-critic in parallel corridors with an entropy bonus. Policy losses have no meaning of their own: watch returns."""

from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(35)


@dataclass
class Hyper:
    envs: int = 32
    rollout: int = 8
    updates: int = 180
    gamma: float = 0.97
    lr: float = 3e-3
    entropy: float = 0.01
    value: float = 0.5
    max_norm: float = 0.5


class Corridors:
    """Nine cells; a key at the left end opens the door at the right end. All copies run as one tensor."""

    def __init__(self, n, cells=9):
        self.n, self.cells = n, cells
        self.place = torch.full((n,), cells // 2)
        self.key = torch.zeros(n, dtype=torch.long)
        self.age = torch.zeros(n, dtype=torch.long)

    def observe(self):
        return torch.cat([F.one_hot(self.place, self.cells), self.key.unsqueeze(1)], dim=1).float()

    def step(self, action):
        self.place = (self.place + 2 * action - 1).clamp(0, self.cells - 1)
        self.key = torch.where(self.place == 0, 1, self.key)
        won = (self.place == self.cells - 1) & (self.key == 1)
        self.age += 1
        over = won | (self.age >= 40)
        self.place = torch.where(over, self.cells // 2, self.place)
        self.key, self.age = torch.where(over, 0, self.key), torch.where(over, 0, self.age)
        return won.float() - 0.01, over.float(), won


class ActorCritic(nn.Module):
    def __init__(self, inputs, actions, width=64):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(inputs, width), nn.Tanh())
        self.actor = nn.Linear(width, actions)
        self.critic = nn.Linear(width, 1)
        nn.init.orthogonal_(self.actor.weight, gain=0.01)  # a nearly uniform policy to begin with

    def forward(self, x):
        h = self.body(x)
        return torch.distributions.Categorical(logits=self.actor(h)), self.critic(h).squeeze(-1)


hp = Hyper()
env = Corridors(hp.envs)
model = ActorCritic(10, 2)
optimizer = torch.optim.RMSprop(model.parameters(), lr=hp.lr, eps=1e-5)
finished, won_count = 0, 0
for update in range(1, hp.updates + 1):
    logs, values, entropies, rewards, overs = [], [], [], [], []
    for _ in range(hp.rollout):
        policy, value = model(env.observe())
        action = policy.sample()
        reward, over, won = env.step(action)
        finished, won_count = finished + int(over.sum()), won_count + int(won.sum())
        for kept, new in zip((logs, values, entropies, rewards, overs), (policy.log_prob(action), value, policy.entropy(), reward, over)):
            kept.append(new)
    with torch.no_grad():
        following = model(env.observe())[1]
        returns = []
        for reward, over in zip(reversed(rewards), reversed(overs)):
            following = reward + hp.gamma * (1 - over) * following
            returns.insert(0, following)
    returns, values = torch.stack(returns), torch.stack(values)
    advantage = (returns - values).detach()
    policy_loss = -(torch.stack(logs) * advantage).mean()
    value_loss = F.mse_loss(values, returns)
    loss = policy_loss + hp.value * value_loss - hp.entropy * torch.stack(entropies).mean()
    optimizer.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), hp.max_norm)
    optimizer.step()
    if update % 30 == 0:
        print(f"update {update:3d} loss {loss.item():+.3f} share won {won_count / max(finished, 1):.3f} of {finished}")
        finished = won_count = 0
