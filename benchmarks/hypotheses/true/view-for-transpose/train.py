"""What a wrist does, from three channels of an accelerometer."""

import math

import torch
from torch import nn
from torch.nn import functional

CHANNELS, LENGTH, MOVES = 6, 32, 4
BATCH_SIZE, EPOCHS = 64, 8


def recordings(rows, seed):
    """Time before channels; the move shows in which channels swing, and how fast."""
    generator = torch.Generator().manual_seed(seed)
    moves = torch.randint(0, MOVES, (rows,), generator=generator)
    time = torch.linspace(0, 1, LENGTH)[None, :, None]
    speed = (3 + 4 * (moves % 2))[:, None, None] + torch.randn(rows, 1, 1, generator=generator)
    phase = 2 * math.pi * torch.rand(rows, 1, CHANNELS, generator=generator)
    swings = torch.where(torch.arange(CHANNELS) < 3, 1.0 - moves[:, None] // 2, moves[:, None] // 2)
    waves = torch.sin(2 * math.pi * speed * time + phase) * (0.5 + swings[:, None])
    return waves + 0.7 * torch.randn(rows, LENGTH, CHANNELS, generator=generator), moves


class Moves(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv1d(CHANNELS, 24, 5, padding=2)
        self.head = nn.Linear(24, MOVES)

    def channels_first(self, x):
        return x.reshape(len(x), CHANNELS, LENGTH)

    def forward(self, x):
        return self.head(torch.relu(self.conv(self.channels_first(x))).amax(2))


def main():
    torch.manual_seed(0)
    x, moves = recordings(1200, 1)
    test_x, test_moves = recordings(600, 2)
    model = Moves()
    optimizer = torch.optim.Adam(model.parameters(), lr=4e-3)
    for epoch in range(EPOCHS):
        for rows in torch.randperm(len(x)).split(BATCH_SIZE):
            loss = functional.cross_entropy(model(x[rows]), moves[rows])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        with torch.no_grad():
            accuracy = (model(test_x).argmax(1) == test_moves).float().mean().item()
        print(f"epoch {epoch} loss {loss.item():.4f} test accuracy {accuracy:.4f}")


if __name__ == "__main__":
    main()
