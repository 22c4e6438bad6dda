"""Which bearing of a pump is worn, from a vibration spectrum: a six-layer tanh network."""

import math

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset, random_split


def spectra(n, bins=64, kinds=4, generator=None):
    """One characteristic line and its harmonics a kind, over a noise floor."""
    kind = torch.randint(0, kinds, (n,), generator=generator)
    freq = torch.linspace(0, 1, bins)
    base = 0.11 + 0.05 * kind.float()
    out = 0.3 * torch.rand(n, bins, generator=generator)
    for harmonic in (1, 2, 3):
        centre = (base * harmonic + 0.006 * torch.randn(n, generator=generator)).unsqueeze(1)
        out += torch.exp(-(((freq - centre) / 0.02) ** 2)) / harmonic * (0.4 + torch.rand(n, 1, generator=generator))
    return (out - out.mean()) / out.std(), kind


class DeepTanh(nn.Module):
    def __init__(self, inputs, outputs, width=128, depth=6):
        super().__init__()
        sizes = [inputs] + [width] * depth
        self.hidden = nn.ModuleList(nn.Linear(a, b) for a, b in zip(sizes[:-1], sizes[1:]))
        self.head = nn.Linear(width, outputs)
        self.apply(self.init_weights)

    @staticmethod
    def init_weights(module):
        if isinstance(module, nn.Linear):
            nn.init.normal_(module.weight, mean=0.0, std=1.0)
            nn.init.zeros_(module.bias)

    def forward(self, x):
        for layer in self.hidden:
            x = torch.tanh(layer(x))
        return self.head(x)


def run_epoch(model, loader, criterion, optimizer=None):
    model.train(optimizer is not None)
    total, right, count = 0.0, 0, 0
    with torch.set_grad_enabled(optimizer is not None):
        for x, y in loader:
            logits = model(x)
            loss = criterion(logits, y)
            if optimizer is not None:
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
            total += loss.item() * len(y)
            right += (logits.argmax(1) == y).sum().item()
            count += len(y)
    return total / count, right / count


def main():
    torch.manual_seed(21)
    generator = torch.Generator().manual_seed(21)
    data = TensorDataset(*spectra(3000, generator=generator))
    train, val = random_split(data, [2400, 600], generator=generator)
    train_loader = DataLoader(train, batch_size=64, shuffle=True)
    val_loader = DataLoader(val, batch_size=600)

    model = DeepTanh(64, 4)
    criterion = nn.CrossEntropyLoss()
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    print(f"chance loss {math.log(4):.3f}")
    for epoch in range(12):
        train_loss, train_acc = run_epoch(model, train_loader, criterion, optimizer)
        val_loss, val_acc = run_epoch(model, val_loader, criterion)
        print(f"{epoch:2d} train {train_loss:.3f}/{train_acc:.3f}  val {val_loss:.3f}/{val_acc:.3f}")


if __name__ == "__main__":
    main()
