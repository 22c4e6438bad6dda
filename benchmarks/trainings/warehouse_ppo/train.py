"""PPO on a small vectorised warehouse grid: fetch the parcel, few steps, avoid the shelves."""
import torch
from torch import nn
from torch.distributions import Categorical

torch.manual_seed(3)

SIZE, N_ENVS, HORIZON, ITERS = 5, 32, 24, 40
GAMMA, LAM, CLIP = 0.97, 0.95, 0.2
MOVES = torch.tensor([[0, 1], [0, -1], [1, 0], [-1, 0]])
SHELVES = torch.tensor([[1, 1], [3, 1], [1, 3], [3, 3]])


class Warehouse:
    def __init__(self, n):
        self.n = n
        self.pos = torch.zeros(n, 2, dtype=torch.long)
        self.goal = torch.zeros(n, 2, dtype=torch.long)
        self.t = torch.zeros(n, dtype=torch.long)
        self.reset(torch.ones(n, dtype=torch.bool))

    def reset(self, mask):
        k = int(mask.sum())
        if k == 0:
            return
        self.pos[mask] = torch.randint(0, 3, (k, 2)) * 2
        self.goal[mask] = torch.randint(0, 3, (k, 2)) * 2
        self.t[mask] = 0

    def obs(self):
        me = nn.functional.one_hot(self.pos[:, 0] * SIZE + self.pos[:, 1], SIZE * SIZE)
        to = nn.functional.one_hot(self.goal[:, 0] * SIZE + self.goal[:, 1], SIZE * SIZE)
        return torch.cat([me, to], 1).float()

    def step(self, action):
        new = (self.pos + MOVES[action]).clamp(0, SIZE - 1)
        blocked = (new[:, None] == SHELVES[None]).all(-1).any(-1)
        self.pos = torch.where(blocked[:, None], self.pos, new)
        self.t += 1
        reached = (self.pos == self.goal).all(-1)
        reward = reached.float() - 0.02 - 0.05 * blocked.float()
        done = reached | (self.t >= 20)
        self.reset(done)
        return self.obs(), reward, done, reached


class ActorCritic(nn.Module):
    def __init__(self, n_obs=2 * SIZE * SIZE, n_act=4, width=64):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(n_obs, width), nn.Tanh(), nn.Linear(width, width), nn.Tanh())
        self.pi = nn.Linear(width, n_act)
        self.v = nn.Linear(width, 1)

    def forward(self, x):
        h = self.body(x)
        return Categorical(logits=self.pi(h)), self.v(h).squeeze(-1)


env = Warehouse(N_ENVS)
agent = ActorCritic()
optim = torch.optim.Adam(agent.parameters(), lr=2e-3)
obs = env.obs()

for it in range(1, ITERS + 1):
    buf = {k: [] for k in ("obs", "act", "logp", "val", "rew", "done")}
    finished = successes = 0
    for _ in range(HORIZON):
        with torch.no_grad():
            dist, value = agent(obs)
            act = dist.sample()
        nxt, rew, done, reached = env.step(act)
        for k, v in zip(buf, (obs, act, dist.log_prob(act), value, rew, done.float())):
            buf[k].append(v)
        finished += int(done.sum())
        successes += int(reached.sum())
        obs = nxt

    data = {k: torch.stack(v) for k, v in buf.items()}
    with torch.no_grad():
        next_value = agent(obs)[1]
    adv = torch.zeros_like(data["rew"])
    gae = torch.zeros(N_ENVS)
    for t in reversed(range(HORIZON)):
        alive = 1.0 - data["done"][t]
        delta = data["rew"][t] + GAMMA * next_value * alive - data["val"][t]
        gae = delta + GAMMA * LAM * alive * gae
        adv[t] = gae
        next_value = data["val"][t]
    ret = adv + data["val"]

    flat = {k: v.flatten(0, 1) for k, v in data.items()}
    adv, ret = adv.flatten(), ret.flatten()
    adv = (adv - adv.mean()) / (adv.std() + 1e-8)
    for _ in range(4):
        for idx in torch.randperm(len(adv)).split(192):
            dist, value = agent(flat["obs"][idx])
            ratio = (dist.log_prob(flat["act"][idx]) - flat["logp"][idx]).exp()
            surr = ratio * adv[idx]
            clipped = ratio.clamp(1 - CLIP, 1 + CLIP) * adv[idx]
            policy_loss = torch.min(surr, clipped).mean()
            value_loss = nn.functional.mse_loss(value, ret[idx])
            loss = policy_loss + 0.5 * value_loss - 0.01 * dist.entropy().mean()
            optim.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(agent.parameters(), 0.5)
            optim.step()
    if it % 5 == 0:
        print(
            f"iter {it:3d} mean reward/step {data['rew'].mean():+.4f} "
            f"success {successes / max(finished, 1):.3f} value loss {value_loss.item():.4f}"
        )
