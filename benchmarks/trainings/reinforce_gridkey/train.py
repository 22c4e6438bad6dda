"""REINFORCE with a learned baseline: fetch the key, then reach the door on a 5x5 grid (batched environments)."""
import torch
import torch.nn.functional as F
from torch import nn
from torch.distributions import Categorical

torch.manual_seed(2)
SIZE, HORIZON, ENVS = 5, 24, 48
MOVES = torch.tensor([[0, 1], [0, -1], [1, 0], [-1, 0]])


class KeyDoor:
    def __init__(self, n):
        self.n = n

    def reset(self):
        self.pos = torch.randint(0, SIZE, (self.n, 2))
        self.key = torch.randint(0, SIZE, (self.n, 2))
        self.door = torch.randint(0, SIZE, (self.n, 2))
        self.has = torch.zeros(self.n, dtype=torch.bool)
        self.done = torch.zeros(self.n, dtype=torch.bool)
        return self.obs()

    def obs(self):
        goal = torch.where(self.has[:, None], self.door, self.key)
        delta = (goal - self.pos).float() / SIZE
        return torch.cat([delta, delta.sign(), self.pos.float() / SIZE, self.has[:, None].float()], 1)

    def step(self, action):
        alive = ~self.done
        nxt = (self.pos + MOVES[action]).clamp(0, SIZE - 1)
        self.pos = torch.where(alive[:, None], nxt, self.pos)
        reward = torch.full((self.n,), -0.05) * alive
        got = alive & ~self.has & (self.pos == self.key).all(1)
        self.has |= got
        won = alive & self.has & (self.pos == self.door).all(1)
        reward = reward + 0.5 * got + 1.0 * won
        self.done |= won
        return self.obs(), reward, alive


policy = nn.Sequential(nn.Linear(7, 64), nn.Tanh(), nn.Linear(64, 4))
critic = nn.Sequential(nn.Linear(7, 64), nn.Tanh(), nn.Linear(64, 1))
pi_opt = torch.optim.Adam(policy.parameters(), lr=4e-3)
v_opt = torch.optim.Adam(critic.parameters(), lr=1e-2)


def rollout(env, greedy=False):
    obs, rec = env.reset(), []
    for _ in range(HORIZON):
        logits = policy(obs)
        dist = Categorical(logits=logits)
        act = logits.argmax(-1) if greedy else dist.sample()
        nxt, rew, alive = env.step(act)
        rec.append((obs, dist.log_prob(act), dist.entropy(), rew, alive.float()))
        obs = nxt
    return [torch.stack(c) for c in zip(*rec)]


def to_go(rewards, gamma=0.97):
    out, acc = torch.zeros_like(rewards), torch.zeros(rewards.shape[1])
    for t in range(len(rewards) - 1, -1, -1):
        acc = rewards[t] + gamma * acc
        out[t] = acc
    return out


@torch.no_grad()
def success_rate(n=400):
    env = KeyDoor(n)
    rollout(env, greedy=True)
    return env.done.float().mean().item()


env = KeyDoor(ENVS)
print(f"before: greedy success {success_rate():.2f}")
for it in range(1, 301):
    obs, logp, ent, rew, alive = rollout(env)
    ret = to_go(rew)
    value = critic(obs).squeeze(-1)
    adv = ret - value.detach()
    m = alive.sum()
    mean = (adv * alive).sum() / m
    std = (((adv - mean) ** 2 * alive).sum() / m).sqrt()
    adv = (adv - mean) / (std + 1e-6)
    coef = 0.02 * (1 - it / 300)
    pi_loss = -((logp * adv + coef * ent) * alive).sum() / m
    v_loss = (F.smooth_l1_loss(value, ret, reduction="none") * alive).sum() / m

    pi_opt.zero_grad()
    pi_loss.backward()
    pi_opt.step()
    v_opt.zero_grad()
    v_loss.backward()
    v_opt.step()

    if it % 30 == 0:
        print(
            f"iter {it:3d} pi_loss {pi_loss.item():+.4f} v_loss {v_loss.item():.4f} entropy {((ent * alive).sum() / m).item():.3f}"
            f" return {rew.sum(0).mean().item():+.3f} greedy success {success_rate():.2f}"
        )
