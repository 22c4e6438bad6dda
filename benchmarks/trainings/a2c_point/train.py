"""Advantage actor-critic steering a point mass to the origin.

All rewards are negative; episodes never end by themselves, they are only cut after 40 steps, so the value of the
last state is bootstrapped on purpose. Actor and critic have their own optimizers and rates.
"""
import torch
from torch import nn
from torch.distributions import Normal

torch.manual_seed(15)
N, T, GAMMA, LAM = 48, 40, 0.95, 0.9


class PointMass:
    def __init__(self, n):
        self.n = n

    def reset(self):
        self.pos = torch.empty(self.n, 2).uniform_(-2, 2)
        self.vel = torch.zeros(self.n, 2)
        return self.obs()

    def obs(self):
        return torch.cat([self.pos, self.vel], 1)

    def step(self, push):
        push = push.clamp(-1, 1)
        self.vel = 0.9 * self.vel + 0.25 * push + 0.01 * torch.randn(self.n, 2)
        self.pos = self.pos + 0.5 * self.vel
        cost = self.pos.pow(2).sum(1).clamp(max=16) + 0.05 * push.pow(2).sum(1)
        return self.obs(), -0.1 * cost


class Actor(nn.Module):
    def __init__(self):
        super().__init__()
        self.mean = nn.Sequential(nn.Linear(4, 48), nn.Tanh(), nn.Linear(48, 2))
        self.log_std = nn.Parameter(torch.full((2,), -0.5))

    def forward(self, o):
        return Normal(self.mean(o), self.log_std.clamp(-2.5, 0.5).exp())


actor = Actor()
critic = nn.Sequential(nn.Linear(4, 64), nn.Tanh(), nn.Linear(64, 64), nn.Tanh(), nn.Linear(64, 1))
actor_opt = torch.optim.Adam(actor.parameters(), lr=4e-3)
critic_opt = torch.optim.Adam(critic.parameters(), lr=4e-3)
env = PointMass(N)


@torch.no_grad()
def test_return(policy):
    world, total = PointMass(200), 0.0
    o = world.reset()
    for _ in range(T):
        o, r = world.step(policy(o))
        total += r.mean().item()
    return total


print(f"random pushes: return {test_return(lambda o: torch.rand(len(o), 2) * 2 - 1):.2f}, no pushes: {test_return(lambda o: torch.zeros(len(o), 2)):.2f}")
for it in range(1, 151):
    o = env.reset()
    obs, acts, rews = [], [], []
    with torch.no_grad():
        for _ in range(T):
            a = actor(o).sample()
            obs.append(o)
            acts.append(a)
            o, r = env.step(a)
            rews.append(r)
    obs, acts, rews = torch.stack(obs), torch.stack(acts), torch.stack(rews)

    with torch.no_grad():
        v = critic(torch.cat([obs, o[None]])).squeeze(-1)     # T + 1 values, the last one for the cut state
        adv, run = torch.zeros_like(rews), torch.zeros(N)
        for t in reversed(range(T)):
            delta = rews[t] + GAMMA * v[t + 1] - v[t]
            run = delta + GAMMA * LAM * run
            adv[t] = run
        returns = adv + v[:-1]
        adv = (adv - adv.mean()) / (adv.std() + 1e-6)

    for _ in range(4):
        critic_loss = (critic(obs).squeeze(-1) - returns).pow(2).mean()
        critic_opt.zero_grad()
        critic_loss.backward()
        critic_opt.step()

    dist = actor(obs)
    actor_loss = -(dist.log_prob(acts).sum(-1) * adv).mean() - 0.003 * dist.entropy().sum(-1).mean()
    actor_opt.zero_grad()
    actor_loss.backward()
    nn.utils.clip_grad_norm_(actor.parameters(), 1.0)
    actor_opt.step()

    if it % 15 == 0:
        explained = 1 - critic_loss.item() / returns.var().item()
        print(f"iter {it:3d} actor {actor_loss.item():7.3f} critic {critic_loss.item():.4f} explained {explained:.2f} "
              f"std {actor.log_std.exp().mean():.2f} greedy return {test_return(lambda o: actor(o).mean):.2f}")
