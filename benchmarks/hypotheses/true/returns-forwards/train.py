"""A walker learns to cross a hall whose gate costs something at once and pays late (REINFORCE)."""

import torch
from torch import nn

CELLS, HORIZON, GAMMA, EPISODES = 6, 16, 0.95, 200


class Policy(nn.Module):
    def __init__(self):
        super().__init__()
        self.table = nn.Linear(CELLS, 2)

    def forward(self, cell):
        return torch.distributions.Categorical(logits=self.table(torch.eye(CELLS)[cell]))


def episode(policy):
    """Log-probabilities and rewards of each step, and whether it arrived."""
    cell, chances, rewards = 0, [], []
    while cell < CELLS - 1 and len(rewards) < HORIZON:
        choice = policy(cell)
        action = choice.sample()
        chances.append(choice.log_prob(action))
        step = 1 if action.item() else -1
        cell = max(0, cell + step)
        # Each step to the right is uphill.
        rewards.append((5.0 if cell == CELLS - 1 else 0.0) - (0.3 if step > 0 else 0.1))
    return chances, rewards, cell == CELLS - 1


def returns(rewards):
    """What is still to come at each step."""
    total, found = 0.0, []
    for reward in rewards:
        total = reward + GAMMA * total
        found.append(total)
    return torch.tensor(found)


def main():
    torch.manual_seed(0)
    policy = Policy()
    optimizer = torch.optim.Adam(policy.parameters(), lr=0.03)
    arrived = []
    for number in range(EPISODES):
        chances, rewards, there = episode(policy)
        loss = -(torch.stack(chances) * returns(rewards)).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        arrived.append(there)
        if number % 50 == 49:
            print(f"episode {number + 1} accuracy {sum(arrived[-50:]) / 50:.3f}")


if __name__ == "__main__":
    main()
