"""Actor and critic in a hall with a slippery floor."""

import torch
from torch import nn
from torch.nn import functional

CELLS, GAMMA, UPDATES, WALKERS = 6, 0.9, 150, 32


class Walker(nn.Module):
    def __init__(self):
        super().__init__()
        self.actor = nn.Linear(CELLS, 2)
        self.critic = nn.Linear(CELLS, 1)

    def forward(self, cells):
        seen = functional.one_hot(cells, CELLS).float()
        return torch.distributions.Categorical(logits=self.actor(seen)), self.critic(seen).squeeze(1)


def moved(cells, actions):
    """Next cells, rewards, and who has arrived; one step in five slips."""
    slips = torch.rand(len(cells)) < 0.2
    after = (cells + torch.where(slips, 1 - actions, actions) * 2 - 1).clamp(0, CELLS - 1)
    done = after == CELLS - 1
    return after, done.float() - 0.02, done


def losses(chances, values, targets):
    """Of the actor and of the critic."""
    advantages = targets - values
    return -(chances * advantages).mean(), functional.mse_loss(values, targets)


def solved():
    """Values of the cells for somebody who always goes on, by iteration."""
    values = torch.zeros(CELLS)
    for _ in range(300):
        cells = torch.arange(CELLS - 1)
        ahead, back = cells + 1, (cells - 1).clamp(0)
        gain = (ahead == CELLS - 1).float()
        worth = 0.8 * (gain + GAMMA * (1 - gain) * values[ahead]) + 0.2 * GAMMA * values[back]
        values = torch.cat([worth - 0.02, torch.zeros(1)])
    return values[:-1]


def main():
    torch.manual_seed(0)
    walker, truth = Walker(), solved()
    optimizer = torch.optim.Adam(walker.parameters(), lr=0.03)
    cells = torch.randint(0, CELLS - 1, (WALKERS,))
    for update in range(UPDATES):
        choice, values = walker(cells)
        actions = choice.sample()
        after, rewards, done = moved(cells, actions)
        with torch.no_grad():
            targets = rewards + GAMMA * ~done * walker(after)[1]
        actor_loss, critic_loss = losses(choice.log_prob(actions), values, targets)
        loss = actor_loss + 0.5 * critic_loss
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        cells = torch.where(done, torch.randint(0, CELLS - 1, (WALKERS,)), after)
        if update % 50 == 49:
            with torch.no_grad():
                error = (walker(torch.arange(CELLS - 1))[1] - truth).abs().mean().item()
            print(f"update {update + 1} test mae {error:.4f}")


if __name__ == "__main__":
    main()
