"""Advantage actor-critic for filling a mug: two networks, two optimizers, entropy bonus."""
import numpy as np
import torch
import torch.nn as nn
from torch.distributions import Categorical

N_ENVS, HORIZON, UPDATES, GAMMA, LAMBDA = 16, 12, 250, 0.98, 0.95


class Mugs:
    """Pour nothing, a little or a lot until done is chosen by time: reward is closeness to the wanted level."""

    def __init__(self, n, seed):
        self.n, self.rng = n, np.random.default_rng(seed)

    def reset(self):
        self.level = self.rng.uniform(0, 0.3, self.n)
        self.wanted = self.rng.uniform(0.5, 1.0, self.n)
        self.t = 0
        return self.obs()

    def obs(self):
        return torch.tensor(np.stack([self.level, self.wanted, np.full(self.n, self.t / HORIZON)], axis=1), dtype=torch.float32)

    def step(self, action):
        pour = np.array([0.0, 0.04, 0.12])[action]
        self.level = self.level + pour * self.rng.uniform(0.9, 1.1, self.n)
        self.t += 1
        done = self.t == HORIZON
        gap = np.abs(self.level - self.wanted)
        reward = np.where(done, 1.0 - 8 * gap, 0.0) - 0.3 * (self.level > self.wanted + 0.05)
        return self.obs(), torch.tensor(reward, dtype=torch.float32), done


def mlp(n_out):
    return nn.Sequential(nn.Linear(3, 48), nn.Tanh(), nn.Linear(48, 48), nn.Tanh(), nn.Linear(48, n_out))


def collect(env, actor, critic):
    obs, rows = env.reset(), []
    done = False
    while not done:
        dist = Categorical(logits=actor(obs))
        action = dist.sample()
        nxt, reward, done = env.step(action.numpy())
        rows.append((dist.log_prob(action), dist.entropy(), critic(obs).squeeze(1), reward))
        obs = nxt
    logp, entropy, value, reward = (torch.stack(c) for c in zip(*rows))
    return logp, entropy, value, reward


def gae(value, reward):
    """Episodes end at the horizon, so the value after the last step is zero."""
    adv, last = torch.zeros_like(reward), torch.zeros(reward.shape[1])
    for t in reversed(range(len(reward))):
        next_value = value[t + 1] if t + 1 < len(reward) else torch.zeros_like(last)
        delta = reward[t] + GAMMA * next_value - value[t]
        last = delta + GAMMA * LAMBDA * last
        adv[t] = last
    return adv


@torch.no_grad()
def test_return(actor):
    env = Mugs(200, seed=1000)
    obs, total, done = env.reset(), torch.zeros(200), False
    while not done:
        obs, reward, done = env.step(actor(obs).argmax(1).numpy())
        total += reward
    return total.mean().item()


def main():
    torch.manual_seed(33)
    env = Mugs(N_ENVS, seed=33)
    actor, critic = mlp(3), mlp(1)
    opt_actor = torch.optim.Adam(actor.parameters(), lr=3e-3)
    opt_critic = torch.optim.Adam(critic.parameters(), lr=5e-3)
    print(f"untrained return {test_return(actor):.3f}")
    for update in range(1, UPDATES + 1):
        logp, entropy, value, reward = collect(env, actor, critic)
        advantage = gae(value.detach(), reward)
        returns = advantage + value.detach()
        normalised = (advantage - advantage.mean()) / (advantage.std() + 1e-8)
        actor_loss = -(logp * normalised).mean() - 0.01 * entropy.mean()
        critic_loss = (value - returns).pow(2).mean()
        opt_actor.zero_grad()
        actor_loss.backward()
        opt_actor.step()
        opt_critic.zero_grad()
        critic_loss.backward()
        opt_critic.step()
        if update % 50 == 0:
            print(f"update {update:3d} actor {actor_loss.item():+.4f} critic {critic_loss.item():.4f} entropy {entropy.mean().item():.3f} test return {test_return(actor):.3f}")


if __name__ == "__main__":
    main()
