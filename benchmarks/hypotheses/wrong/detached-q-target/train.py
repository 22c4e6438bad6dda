"""Q-learning on a slippery corridor, with a network and stored transitions."""

import torch
from torch import nn
from torch.nn import functional

CELLS, GAMMA, STEPS, BATCH_SIZE = 8, 0.9, 500, 64


def seen_as(cells):
    return functional.one_hot(cells, CELLS).float()


def transitions(rows, generator):
    """Cell, action (0 left, 1 right), reward, next cell, and whether the end was reached."""
    cells = torch.randint(0, CELLS - 1, (rows,), generator=generator)
    actions = torch.randint(0, 2, (rows,), generator=generator)
    slips = torch.rand(rows, generator=generator) < 0.2
    moves = torch.where(slips, 1 - actions, actions) * 2 - 1
    after = (cells + moves).clamp(0, CELLS - 1)
    done = (after == CELLS - 1).float()
    return seen_as(cells), actions, done - 0.01, seen_as(after), done


def td_loss(network, states, actions, rewards, after, done):
    values = network(states).gather(1, actions[:, None]).squeeze(1)
    with torch.no_grad():
        target = rewards + GAMMA * (1 - done) * network(after).max(1).values
    return functional.mse_loss(values, target)


def solved():
    """The values themselves, by dynamic programming."""
    values = torch.zeros(CELLS)
    for _ in range(200):
        options = []
        for action in (0, 1):
            expected = torch.zeros(CELLS)
            for move, chance in ((action, 0.8), (1 - action, 0.2)):
                after = (torch.arange(CELLS) + 2 * move - 1).clamp(0, CELLS - 1)
                done = (after == CELLS - 1).float()
                expected += chance * (done - 0.01 + GAMMA * (1 - done) * values[after])
            options.append(expected)
        q = torch.stack(options, 1)
        values = q.max(1).values
    return q[:-1]


def main():
    torch.manual_seed(0)
    generator = torch.Generator().manual_seed(1)
    stored = transitions(2000, generator)
    network = nn.Sequential(nn.Linear(CELLS, 32), nn.ReLU(), nn.Linear(32, 2))
    optimizer = torch.optim.Adam(network.parameters(), lr=5e-3)
    truth = solved()
    for step in range(STEPS):
        rows = torch.randint(0, len(stored[0]), (BATCH_SIZE,))
        loss = td_loss(network, *(one[rows] for one in stored))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 100 == 99:
            with torch.no_grad():
                error = (network(seen_as(torch.arange(CELLS - 1))) - truth).abs().mean().item()
            print(f"step {step + 1} loss {loss.item():.5f} val mae {error:.4f}")


if __name__ == "__main__":
    main()
