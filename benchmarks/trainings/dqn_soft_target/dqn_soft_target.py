"""Double DQN with a softly updated target network: balance a stock between too little and too much."""

import copy
import random

import torch
import torch.nn.functional as F
from torch import nn

random.seed(40)
torch.manual_seed(40)
CAPACITY, ORDERS = 12, 5


class Shop:
    """Order 0 to 4 pieces each day; unmet demand costs 1, a piece in stock 0.1, a sold piece earns 0.5."""

    def reset(self):
        self.stock, self.day = random.randrange(CAPACITY), random.randrange(7)
        return self.encode()

    def encode(self):
        return torch.tensor([self.stock / CAPACITY, *(1.0 if self.day == d else 0.0 for d in range(7))])

    def step(self, order):
        self.stock = min(CAPACITY, self.stock + order)
        demand = sum(random.random() < (0.8 if self.day >= 5 else 0.35) for _ in range(5))
        sold = min(self.stock, demand)
        reward = 0.5 * sold - 1.0 * (demand - sold) - 0.1 * (self.stock - sold)
        self.stock -= sold
        self.day = (self.day + 1) % 7
        return self.encode(), reward


class DuelingNet(nn.Module):
    def __init__(self, hidden=64):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(8, hidden), nn.ReLU())
        self.value, self.advantage = nn.Linear(hidden, 1), nn.Linear(hidden, ORDERS)

    def forward(self, x):
        h = self.body(x)
        advantage = self.advantage(h)
        return self.value(h) + advantage - advantage.mean(-1, keepdim=True)


online = DuelingNet()
target = copy.deepcopy(online)
for parameter in target.parameters():
    parameter.requires_grad_(False)  # follows the online net, is never optimised
optimizer = torch.optim.Adam(online.parameters(), lr=2e-3)
memory, shop = [], Shop()
gamma, tau = 0.9, 0.02


def play(policy, days):
    state, total = shop.reset(), 0.0
    for _ in range(days):
        state, reward = shop.step(policy(state))
        total += reward
    return total / days


def greedy(state):
    with torch.no_grad():
        return online(state).argmax().item()


print(f"random orders {play(lambda _: random.randrange(ORDERS), 4000):.3f} a day, always two {play(lambda _: 2, 4000):.3f}")
state = shop.reset()
for step in range(1, 3001):
    explore = random.random() < max(0.05, 1 - step / 1500)
    action = random.randrange(ORDERS) if explore else greedy(state)
    following, reward = shop.step(action)
    memory.append((state, action, reward, following))
    state = following  # the shop never closes: there are no terminal states
    if len(memory) < 200 or step % 2:
        continue
    states, actions, rewards, followings = zip(*random.sample(memory, 64))
    states, followings = torch.stack(states), torch.stack(followings)
    q = online(states).gather(1, torch.tensor(actions).unsqueeze(1)).squeeze(1)
    with torch.no_grad():
        choice = online(followings).argmax(1, keepdim=True)
        goal = torch.tensor(rewards) + gamma * target(followings).gather(1, choice).squeeze(1)
    loss = F.smooth_l1_loss(q, goal)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    with torch.no_grad():
        for slow, fast in zip(target.parameters(), online.parameters()):
            slow.lerp_(fast, tau)
    if step % 600 == 0:
        print(f"step {step} loss {loss.item():.4f} reward a day {play(greedy, 2000):.3f}")
        state = shop.reset()
