"""Two-stage fine-tuning: frozen backbone with its batch norms in eval mode, then discriminative rates on everything."""
import copy

import torch
import torch.nn.functional as F
from sklearn.datasets import load_digits
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class Backbone(nn.Module):
    def __init__(self):
        super().__init__()
        self.block1 = nn.Sequential(nn.Conv2d(1, 24, 3, padding=1, bias=False), nn.BatchNorm2d(24), nn.ReLU(), nn.MaxPool2d(2))
        self.block2 = nn.Sequential(nn.Conv2d(24, 48, 3, padding=1, bias=False), nn.BatchNorm2d(48), nn.ReLU())

    def forward(self, x):
        return self.block2(self.block1(x)).flatten(1)


class Net(nn.Module):
    def __init__(self, backbone, n_classes):
        super().__init__()
        self.backbone = backbone
        self.head = nn.Linear(48 * 16, n_classes)

    def forward(self, x):
        return self.head(self.backbone(x))


def digits_of(wanted):
    x, y = load_digits(return_X_y=True)
    keep = torch.tensor([v in wanted for v in y])
    x = torch.tensor((x - 4.9) / 6.0, dtype=torch.float32).view(-1, 1, 8, 8)[keep]
    y = torch.tensor([wanted.index(v) for v in y if v in wanted])
    order = torch.randperm(len(y), generator=torch.Generator().manual_seed(0))
    return x[order], y[order]


@torch.no_grad()
def accuracy(net, x, y):
    net.eval()
    return (net(x).argmax(1) == y).float().mean().item()


def epoch(net, optimizer, loader, frozen_norms):
    net.train()
    if frozen_norms:
        net.backbone.eval()
    for x, y in loader:
        loss = F.cross_entropy(net(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return loss.item()


def main():
    torch.manual_seed(0)
    source_x, source_y = digits_of([0, 1, 2, 3, 4, 5])
    net = Net(Backbone(), 6)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.05, momentum=0.9)
    loader = DataLoader(TensorDataset(source_x[:800], source_y[:800]), batch_size=32, shuffle=True)
    for _ in range(5):
        epoch(net, optimizer, loader, frozen_norms=False)
    print(f"source accuracy {accuracy(net, source_x[800:], source_y[800:]):.3f}")

    x, y = digits_of([6, 7, 8, 9])
    few = DataLoader(TensorDataset(x[:80], y[:80]), batch_size=16, shuffle=True)
    tuned = Net(copy.deepcopy(net.backbone), 4)
    tuned.backbone.requires_grad_(False)
    optimizer = torch.optim.AdamW(tuned.head.parameters(), lr=3e-3)
    for e in range(1, 16):
        loss = epoch(tuned, optimizer, few, frozen_norms=True)
        if e % 5 == 0:
            print(f"head only, epoch {e} loss {loss:.4f} test {accuracy(tuned, x[80:], y[80:]):.3f}")

    tuned.backbone.requires_grad_(True)
    optimizer = torch.optim.AdamW(
        [
            {"params": tuned.backbone.block1.parameters(), "lr": 1e-5},
            {"params": tuned.backbone.block2.parameters(), "lr": 1e-4},
            {"params": tuned.head.parameters(), "lr": 1e-3},
        ],
        weight_decay=0.01,
    )
    for e in range(1, 11):
        loss = epoch(tuned, optimizer, few, frozen_norms=True)
        if e % 5 == 0:
            print(f"whole net, epoch {e} loss {loss:.4f} test {accuracy(tuned, x[80:], y[80:]):.3f}")


if __name__ == "__main__":
    main()
