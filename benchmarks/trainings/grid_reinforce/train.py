"""Policy gradient on a batch of small grid worlds: walk to the goal, avoid the pit."""
import torch
import torch.nn as nn
from torch.distributions import Categorical

torch.manual_seed(9)
SIZE, ENVS, HORIZON, GAMMA = 5, 48, 14, 0.97
MOVES = torch.tensor([[0, 1], [0, -1], [1, 0], [-1, 0]])


class GridBatch:
    """Vectorised environment. State: agent, goal and pit coordinates."""

    def __init__(self, n):
        self.n = n
        self.reset()

    def reset(self):
        cells = torch.stack([torch.randperm(SIZE * SIZE)[:3] for _ in range(self.n)])
        coords = torch.stack([cells // SIZE, cells % SIZE], -1)
        self.agent, self.goal, self.pit = coords[:, 0], coords[:, 1], coords[:, 2]
        self.alive = torch.ones(self.n, dtype=torch.bool)
        return self.observe()

    def observe(self):
        rel = torch.cat([self.goal - self.agent, self.pit - self.agent, self.agent - SIZE // 2], -1)
        return rel.float() / SIZE

    def step(self, action):
        self.agent = torch.where(self.alive[:, None], (self.agent + MOVES[action]).clamp(0, SIZE - 1), self.agent)
        at_goal = (self.agent == self.goal).all(-1) & self.alive
        at_pit = (self.agent == self.pit).all(-1) & self.alive
        reward = -0.05 * self.alive.float() + at_goal.float() - at_pit.float()
        was_alive = self.alive
        self.alive = self.alive & ~at_goal & ~at_pit
        return self.observe(), reward, was_alive, at_goal


class Policy(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(6, 64), nn.Tanh(), nn.Linear(64, 64), nn.Tanh())
        self.actor = nn.Linear(64, 4)
        self.critic = nn.Linear(64, 1)

    def forward(self, obs):
        h = self.body(obs)
        return Categorical(logits=self.actor(h)), self.critic(h).squeeze(-1)


def rollout(env, policy):
    obs, log = env.reset(), []
    success = torch.zeros(env.n, dtype=torch.bool)
    for _ in range(HORIZON):
        dist, value = policy(obs)
        action = dist.sample()
        obs, reward, mask, won = env.step(action)
        success |= won
        log.append((dist.log_prob(action), value, dist.entropy(), reward, mask.float()))
    return [torch.stack(t) for t in zip(*log)], success.float().mean().item()


def discounted(rewards):
    out, acc = torch.zeros_like(rewards), torch.zeros(rewards.size(1))
    for t in reversed(range(len(rewards))):
        acc = rewards[t] + GAMMA * acc
        out[t] = acc
    return out


env, policy = GridBatch(ENVS), Policy()
optimizer = torch.optim.Adam(policy.parameters(), lr=4e-3)
avg_ret = avg_win = 0.0
for it in range(1, 181):
    (logp, values, entropy, rewards, mask), win = rollout(env, policy)
    returns = discounted(rewards)
    advantage = values.detach() - returns
    advantage = advantage / (advantage[mask.bool()].std() + 1e-6)
    n = mask.sum()
    actor_loss = -(logp * advantage * mask).sum() / n
    critic_loss = ((values - returns).pow(2) * mask).sum() / n
    bonus = (entropy * mask).sum() / n
    loss = actor_loss + 0.5 * critic_loss - 0.01 * bonus
    optimizer.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(policy.parameters(), 1.0)
    optimizer.step()
    ep_ret = rewards.sum(0).mean().item()
    k = 0.95 if it > 1 else 0.0
    avg_ret, avg_win = k * avg_ret + (1 - k) * ep_ret, k * avg_win + (1 - k) * win
    if it % 30 == 0:
        print(f"iter {it:4d}  return {avg_ret:+.3f}  success {avg_win:.2%}  entropy {bonus.item():.3f}  value loss {critic_loss.item():.3f}")

with torch.no_grad():
    _, final = rollout(GridBatch(400), policy)
print(f"success over 400 fresh grids: {final:.2%}")
