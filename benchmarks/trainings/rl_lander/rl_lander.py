"""REINFORCE with a learned baseline for a one-dimensional lander; the policy loss hovers around zero throughout."""
import numpy as np
import torch
import torch.nn as nn
from torch.distributions import Bernoulli


class Lander:
    def __init__(self, rng):
        self.rng = rng

    def reset(self):
        self.height = self.rng.uniform(4, 8)
        self.speed = self.rng.uniform(-0.5, 0.5)
        self.fuel = 1.0
        return self.state()

    def state(self):
        return torch.tensor([self.height / 8, self.speed, self.fuel])

    def step(self, burn):
        thrust = 0.32 if burn and self.fuel > 0 else 0.0
        self.fuel = max(0.0, self.fuel - (0.02 if burn else 0.0))
        self.speed += thrust - 0.12
        self.height += self.speed
        if self.height <= 0:
            return self.state(), 4.0 - 6.0 * abs(self.speed), True
        if self.height > 12:
            return self.state(), -5.0, True
        return self.state(), -0.02, False


def small_net(out, final_std):
    net = nn.Sequential(nn.Linear(3, 32), nn.Tanh(), nn.Linear(32, 32), nn.Tanh(), nn.Linear(32, out))
    nn.init.normal_(net[-1].weight, std=final_std)
    nn.init.zeros_(net[-1].bias)
    return net


def play(env, policy):
    states, actions, rewards = [], [], []
    state, done = env.reset(), False
    while not done and len(rewards) < 80:
        with torch.no_grad():
            action = Bernoulli(logits=policy(state)).sample()
        states.append(state)
        actions.append(action)
        state, reward, done = env.step(bool(action.item()))
        rewards.append(reward)
    returns = np.cumsum(rewards[::-1])[::-1].copy()
    return torch.stack(states), torch.stack(actions), torch.tensor(returns, dtype=torch.float32), sum(rewards)


def main(updates=60, episodes=10):
    torch.manual_seed(4)
    env = Lander(np.random.default_rng(4))
    policy, baseline = small_net(1, 0.01), small_net(1, 0.1)
    opt_policy = torch.optim.Adam(policy.parameters(), lr=1e-2)
    opt_baseline = torch.optim.Adam(baseline.parameters(), lr=1e-2)
    recent = []
    for update in range(1, updates + 1):
        batch = [play(env, policy) for _ in range(episodes)]
        states, actions, returns = (torch.cat([b[i] for b in batch]) for i in range(3))
        recent += [b[3] for b in batch]

        values = baseline(states).squeeze(1)
        value_loss = nn.functional.mse_loss(values, returns)
        opt_baseline.zero_grad()
        value_loss.backward()
        opt_baseline.step()

        advantage = returns - values.detach()
        advantage = (advantage - advantage.mean()) / (advantage.std() + 1e-6)
        dist = Bernoulli(logits=policy(states))
        log_prob = dist.log_prob(actions).squeeze(1)
        loss = -(log_prob * advantage).mean() - 0.005 * dist.entropy().mean()
        opt_policy.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(policy.parameters(), 1.0)
        opt_policy.step()
        if update % 10 == 0:
            print(f"update {update} reward {np.mean(recent[-60:]):+.2f} policy loss {loss.item():+.4f} value loss {value_loss.item():.2f}")


if __name__ == "__main__":
    main()
