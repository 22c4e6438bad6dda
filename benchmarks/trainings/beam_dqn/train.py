"""Double DQN that balances a ball on a beam."""
import copy
import random

import torch
import torch.nn.functional as F
from torch import nn

from env import BeamEnv

GAMMA = 0.97
ENVS = 16
STEPS = 2500
torch.manual_seed(3)
random.seed(3)


class Replay:
    def __init__(self, capacity, n_obs):
        self.capacity, self.size, self.head = capacity, 0, 0
        self.obs = torch.zeros(capacity, n_obs)
        self.next_obs = torch.zeros(capacity, n_obs)
        self.action = torch.zeros(capacity, dtype=torch.long)
        self.reward = torch.zeros(capacity)
        self.terminated = torch.zeros(capacity)
        self.truncated = torch.zeros(capacity)

    def add(self, obs, action, reward, next_obs, terminated, truncated):
        idx = (self.head + torch.arange(len(obs))) % self.capacity
        self.obs[idx], self.action[idx], self.reward[idx] = obs, action, reward
        self.next_obs[idx] = next_obs
        self.terminated[idx], self.truncated[idx] = terminated.float(), truncated.float()
        self.head = (self.head + len(obs)) % self.capacity
        self.size = min(self.size + len(obs), self.capacity)

    def sample(self, n):
        i = torch.randint(self.size, (n,))
        return self.obs[i], self.action[i], self.reward[i], self.next_obs[i], self.terminated[i], self.truncated[i]


def q_network(n_obs, n_actions):
    return nn.Sequential(nn.Linear(n_obs, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, n_actions))


def td_loss(q, target_q, batch):
    obs, action, reward, next_obs, terminated, truncated = batch
    with torch.no_grad():
        best = q(next_obs).argmax(1, keepdim=True)
        bootstrap = target_q(next_obs).gather(1, best).squeeze(1)
        target = reward + GAMMA * (1 - truncated) * bootstrap
    value = q(obs).gather(1, action[:, None]).squeeze(1)
    return F.smooth_l1_loss(value, target), value.mean().item()


@torch.no_grad()
def evaluate(q, episodes=40):
    env = BeamEnv(episodes, seed=999)
    obs, length = env.observe(), torch.zeros(episodes)
    for _ in range(env.limit):
        obs, _, _, terminated, truncated, t = env.step(q(obs).argmax(1))
        first = (terminated | truncated) & (length == 0)
        length = torch.where(first, t, length)
    return length.mean().item()


def main():
    env = BeamEnv(ENVS, seed=3)
    q = q_network(env.n_obs, env.n_actions)
    target_q = copy.deepcopy(q)
    optimizer = torch.optim.Adam(q.parameters(), lr=1e-3)
    replay = Replay(20_000, env.n_obs)
    obs = env.observe()
    print(f"untrained: mean episode length {evaluate(q):.1f} of {env.limit}")
    for step in range(1, STEPS + 1):
        eps = max(0.08, 1.0 - step / 800)
        with torch.no_grad():
            action = q(obs).argmax(1)
        explore = torch.rand(ENVS) < eps
        action = torch.where(explore, torch.randint(env.n_actions, (ENVS,)), action)
        next_obs, final_obs, reward, terminated, truncated, _ = env.step(action)
        replay.add(obs, action, reward, final_obs, terminated, truncated)
        obs = next_obs
        if replay.size >= 500:
            loss, value = td_loss(q, target_q, replay.sample(128))
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(q.parameters(), 10.0)
            optimizer.step()
        if step % 100 == 0:
            target_q.load_state_dict(q.state_dict())
        if step % 250 == 0:
            print(f"step {step:5d} eps {eps:.2f} td loss {loss.item():.4f} mean Q {value:.2f} "
                  f"mean episode length {evaluate(q):.1f}")


if __name__ == "__main__":
    main()
