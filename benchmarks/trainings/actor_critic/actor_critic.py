"""Advantage actor-critic on a balance task written here."""

import math
import random

import torch
from torch import nn
from torch.distributions import Categorical


class PoleEnv:
    """A pole with torque left or right; reward 1 while it stays up, forty steps at most."""

    limit, dt, horizon = 0.6, 0.1, 40

    def reset(self):
        self.theta, self.omega, self.t = random.uniform(-0.1, 0.1), random.uniform(-0.1, 0.1), 0
        return self.state()

    def state(self):
        return torch.tensor([self.theta / self.limit, self.omega])

    def step(self, action):
        torque = 1.2 if action == 1 else -1.2
        self.omega += self.dt * (2.5 * math.sin(self.theta) + torque)
        self.theta += self.dt * self.omega
        self.t += 1
        fallen = abs(self.theta) > self.limit
        return self.state(), 0.0 if fallen else 1.0, fallen or self.t >= self.horizon


class ActorCritic(nn.Module):
    def __init__(self, hidden=32):
        super().__init__()
        self.actor = nn.Sequential(nn.Linear(2, hidden), nn.Tanh(), nn.Linear(hidden, 2))
        self.critic = nn.Sequential(nn.Linear(2, hidden), nn.Tanh(), nn.Linear(hidden, 1))
        nn.init.orthogonal_(self.actor[2].weight, gain=0.01)
        nn.init.zeros_(self.actor[2].bias)

    def forward(self, state):
        return Categorical(logits=self.actor(state)), self.critic(state).squeeze(-1)


def rollout(env, model):
    states, actions, rewards, done, state = [], [], [], False, env.reset()
    while not done:
        with torch.no_grad():
            action = model(state)[0].sample().item()
        states.append(state)
        actions.append(action)
        state, reward, done = env.step(action)
        rewards.append(reward)
    returns, running = [], 0.0
    for r in reversed(rewards):
        running = r + 0.95 * running
        returns.append(running)
    return states, actions, returns[::-1], sum(rewards)


def main(updates=40, episodes=6):
    random.seed(1)
    torch.manual_seed(1)
    env, model = PoleEnv(), ActorCritic()
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    for update in range(1, updates + 1):
        batch = [rollout(env, model) for _ in range(episodes)]
        states = torch.stack([s for b in batch for s in b[0]])
        actions = torch.tensor([a for b in batch for a in b[1]])
        returns = torch.tensor([r for b in batch for r in b[2]])
        dist, value = model(states)
        advantage = (returns - value).detach()
        advantage = (advantage - advantage.mean()) / (advantage.std() + 1e-6)
        policy_loss = -(dist.log_prob(actions) * advantage).mean()
        value_loss = nn.functional.smooth_l1_loss(value, returns)
        loss = policy_loss + 0.5 * value_loss - 0.01 * dist.entropy().mean()
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 0.5)
        optimizer.step()
        if update % 4 == 0:
            score = sum(b[3] for b in batch) / episodes
            print(f"update {update}: policy {policy_loss.item():+.4f} value {value_loss.item():.3f} return {score:.1f}")


if __name__ == "__main__":
    main()
