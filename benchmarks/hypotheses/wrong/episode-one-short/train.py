"""A walker finds the end of a corridor (REINFORCE)."""

import torch
from torch import nn

CELLS, HORIZON, GAMMA, EPISODES = 6, 14, 0.95, 200


class Policy(nn.Module):
    def __init__(self):
        super().__init__()
        self.table = nn.Linear(CELLS, 2)

    def forward(self, cell):
        return torch.distributions.Categorical(logits=self.table(torch.eye(CELLS)[cell]))


def episode(policy):
    """Log-probabilities and rewards of each step, how many steps it took, and whether it arrived."""
    cell, chances, rewards = 0, [], []
    while cell < CELLS - 1 and len(rewards) < HORIZON:
        choice = policy(cell)
        action = choice.sample()
        chances.append(choice.log_prob(action))
        cell = max(0, cell + (1 if action.item() else -1))
        rewards.append(1.0 if cell == CELLS - 1 else -0.02)
    length = len(rewards) - 1
    return chances, rewards, length, cell == CELLS - 1


def returns(rewards):
    total, found = 0.0, []
    for reward in reversed(rewards):
        total = reward + GAMMA * total
        found.insert(0, total)
    return torch.tensor(found)


def main():
    torch.manual_seed(0)
    policy = Policy()
    optimizer = torch.optim.Adam(policy.parameters(), lr=0.02)
    arrived, lengths = [], []
    for number in range(EPISODES):
        chances, rewards, length, there = episode(policy)
        loss = -(torch.stack(chances) * returns(rewards)).sum()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        arrived.append(there)
        lengths.append(length)
        if number % 50 == 49:
            share = sum(arrived[-50:]) / 50
            print(f"episode {number + 1} length {sum(lengths[-50:]) / 50:.1f} accuracy {share:.3f}")


if __name__ == "__main__":
    main()
