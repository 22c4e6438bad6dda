"""REINFORCE: steer a boat through a harbour entrance against a side current (own tiny environment)."""
import torch
from torch import nn
from torch.distributions import Categorical


class Harbor:
    """vectorised; state = (offset from the channel's axis, drift speed, current, distance left)"""

    def __init__(self, n, horizon=20, seed=0):
        self.n, self.horizon = n, horizon
        self.g = torch.Generator().manual_seed(seed)

    def reset(self):
        self.pos = torch.randn(self.n, generator=self.g)
        self.vel = torch.zeros(self.n)
        self.cur = 0.1 * torch.randn(self.n, generator=self.g)
        self.t = 0
        return self.obs()

    def obs(self):
        left = torch.full((self.n,), 1 - self.t / self.horizon)
        return torch.stack([self.pos, self.vel * 3, self.cur * 5, left], 1)

    def step(self, action):
        thrust = (action.float() - 1) * 0.12
        self.vel = 0.85 * self.vel + thrust + self.cur * 0.3
        self.pos = self.pos + self.vel
        self.t += 1
        reward = 1.0 - self.pos.abs().clamp(max=3.0)
        return self.obs(), reward, self.t >= self.horizon


class Pilot(nn.Module):
    def __init__(self, hidden=32):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(4, hidden), nn.Tanh(), nn.Linear(hidden, hidden), nn.Tanh(), nn.Linear(hidden, 3))

    def forward(self, s):
        return Categorical(logits=self.net(s))


def rollout(env, pilot):
    s, done = env.reset(), False
    logps, rewards, ents = [], [], []
    while not done:
        d = pilot(s)
        a = d.sample()
        s, r, done = env.step(a)
        logps.append(d.log_prob(a))
        ents.append(d.entropy())
        rewards.append(r)
    return torch.stack(logps), torch.stack(rewards), torch.stack(ents)


def returns_to_go(rewards, gamma=0.97):
    out, acc = [], torch.zeros(rewards.shape[1])
    for r in rewards.flip(0):
        acc = r + gamma * acc
        out.append(acc)
    return torch.stack(out[::-1])


def main():
    torch.manual_seed(3)
    env = Harbor(64, seed=1)
    pilot = Pilot()
    opt = torch.optim.Adam(pilot.parameters(), lr=5e-3)
    for it in range(1, 101):
        logp, rew, ent = rollout(env, pilot)
        ret = returns_to_go(rew)
        adv = (ret - ret.mean(1, keepdim=True)) / (ret.std(1, keepdim=True) + 1e-6)
        loss = (logp * adv).mean() - 0.005 * ent.mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
        if it % 20 == 0:
            print(f"iteration {it} return {rew.sum(0).mean().item():.2f} entropy {ent.mean().item():.3f}")
    test = Harbor(500, seed=77)
    with torch.no_grad():
        _, rew, _ = rollout(test, pilot)
    print(f"test return {rew.sum(0).mean().item():.2f} (best possible 20)")


if __name__ == "__main__":
    main()
