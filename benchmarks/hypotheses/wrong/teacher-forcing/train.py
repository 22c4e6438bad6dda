"""Writes a string of digits backwards (sequence to sequence)."""

import torch
from torch import nn
from torch.nn import functional

DIGITS, LENGTH, WIDTH = 8, 5, 48
START = DIGITS
BATCH_SIZE, EPOCHS = 64, 8


def strings(rows, seed):
    generator = torch.Generator().manual_seed(seed)
    source = torch.randint(0, DIGITS, (rows, LENGTH), generator=generator)
    return source, source.flip(1)


class Translator(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(DIGITS + 1, 24)
        self.encoder = nn.GRU(24, WIDTH, batch_first=True)
        self.decoder = nn.GRUCell(24, WIDTH)
        self.head = nn.Linear(WIDTH, DIGITS)

    def forward(self, source, target=None):
        """Outputs at each place; with a target it is what the decoder reads."""
        state = self.encoder(self.embed(source))[1][0]
        word = torch.full((len(source),), START)
        outputs = []
        for place in range(LENGTH):
            state = self.decoder(self.embed(word), state)
            outputs.append(self.head(state))
            word = outputs[-1].argmax(1) if target is None else target[:, place]
        return torch.stack(outputs, 1)


def main():
    torch.manual_seed(0)
    source, target = strings(2000, 1)
    test_source, test_target = strings(500, 2)
    model = Translator()
    optimizer = torch.optim.Adam(model.parameters(), lr=4e-3)
    for epoch in range(EPOCHS):
        for rows in torch.randperm(len(source)).split(BATCH_SIZE):
            outputs = model(source[rows], target[rows])
            loss = functional.cross_entropy(outputs.flatten(0, 1), target[rows].flatten())
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        with torch.no_grad():
            accuracy = (model(test_source).argmax(2) == test_target).all(1).float().mean().item()
        print(f"epoch {epoch} loss {loss.item():.4f} test accuracy {accuracy:.4f}")


if __name__ == "__main__":
    main()
