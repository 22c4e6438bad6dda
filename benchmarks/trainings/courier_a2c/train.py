"""Synchronous actor-critic for a courier that picks up a parcel and brings it to its door (vectorised toy world)."""
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.distributions import Categorical

N_ENVS = 32
ROLLOUT = 16
UPDATES = 160
GAMMA = 0.97
SIZE = 5
MAX_STEPS = 40
MOVES = torch.tensor([[0, 1], [0, -1], [1, 0], [-1, 0]])


class CourierWorld:
    def __init__(self, n):
        self.n = n
        self.pos = torch.zeros(n, 2, dtype=torch.long)
        self.parcel = torch.zeros(n, 2, dtype=torch.long)
        self.door = torch.zeros(n, 2, dtype=torch.long)
        self.loaded = torch.zeros(n, dtype=torch.bool)
        self.age = torch.zeros(n, dtype=torch.long)
        self.respawn(torch.ones(n, dtype=torch.bool))

    def respawn(self, which):
        k = int(which.sum())
        for place in (self.pos, self.parcel, self.door):
            place[which] = torch.randint(SIZE, (k, 2))
        self.loaded[which] = False
        self.age[which] = 0

    def observation(self):
        goal = torch.where(self.loaded[:, None], self.door, self.parcel)
        parts = [self.pos / SIZE, (goal - self.pos) / SIZE, self.loaded[:, None].float()]
        return torch.cat(parts, dim=1)

    def step(self, actions):
        self.pos = (self.pos + MOVES[actions]).clamp(0, SIZE - 1)
        reward = torch.full((self.n,), -0.02)
        picked = ~self.loaded & (self.pos == self.parcel).all(1)
        delivered = self.loaded & (self.pos == self.door).all(1)
        reward[picked] += 0.5
        reward[delivered] += 1.0
        self.loaded |= picked
        self.age += 1
        done = delivered | (self.age >= MAX_STEPS)
        self.respawn(done)
        return self.observation(), reward, done, delivered


class ActorCritic(nn.Module):
    def __init__(self):
        super().__init__()
        self.actor = nn.Sequential(nn.Linear(5, 64), nn.Tanh(), nn.Linear(64, 4))
        self.critic = nn.Sequential(nn.Linear(5, 64), nn.Tanh(), nn.Linear(64, 1))

    def forward(self, obs):
        return Categorical(logits=self.actor(obs)), self.critic(obs).squeeze(-1)


def main():
    torch.manual_seed(4)
    world = CourierWorld(N_ENVS)
    net = ActorCritic()
    opt = torch.optim.Adam(net.parameters(), lr=3e-3)
    obs = world.observation()
    finished, delivered_total, reward_total = 0, 0, 0.0

    for update in range(1, UPDATES + 1):
        log_probs, values, rewards, dones, entropies = [], [], [], [], []
        for _ in range(ROLLOUT):
            dist, value = net(obs)
            action = dist.sample()
            obs, reward, done, delivered = world.step(action)
            log_probs.append(dist.log_prob(action))
            values.append(value)
            entropies.append(dist.entropy())
            rewards.append(reward)
            dones.append(done)
            finished += int(done.sum())
            delivered_total += int(delivered.sum())
            reward_total += reward.mean().item()

        with torch.no_grad():
            _, bootstrap = net(obs)
        returns = []
        running = bootstrap
        for reward, done in zip(reversed(rewards), reversed(dones)):
            running = reward + GAMMA * running * (~done)
            returns.append(running)
        returns = torch.stack(returns[::-1])
        values = torch.stack(values)
        advantages = (values - returns).detach()
        policy_loss = -(torch.stack(log_probs) * advantages).mean()
        value_loss = F.mse_loss(values, returns)
        entropy = torch.stack(entropies).mean()
        loss = policy_loss + 0.5 * value_loss - 0.01 * entropy

        opt.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(net.parameters(), 0.5)
        opt.step()

        if update % 20 == 0:
            rate = delivered_total / max(finished, 1)
            print(f"update {update:4d} reward/step {reward_total / (20 * ROLLOUT):+.4f} delivered {rate:.2f} "
                  f"value_loss {value_loss.item():.4f} entropy {entropy.item():.3f}")
            finished, delivered_total, reward_total = 0, 0, 0.0


if __name__ == "__main__":
    main()
