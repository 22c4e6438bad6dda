import torch
import torch.nn as nn
import torch.nn.functional as F
import torch.optim as optim
from torch.utils.data import DataLoader, TensorDataset, random_split


def stripes(n, side=8):
    """Pictures of horizontal, vertical, diagonal and no stripes."""
    g = torch.Generator().manual_seed(7)
    kind = torch.randint(0, 4, (n,), generator=g)
    row, col = torch.meshgrid(torch.arange(side), torch.arange(side), indexing="ij")
    patterns = torch.stack([row % 2, col % 2, (row + col) % 2, torch.zeros_like(row)]).float()
    noise = 0.3 * torch.randn(n, side, side, generator=g)
    return (patterns[kind] + noise).flatten(1), kind


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc1 = nn.Linear(64, 48)
        self.fc2 = nn.Linear(48, 24)
        self.out = nn.Linear(24, 4)

    def forward(self, x):
        x = F.relu(self.fc1(x))
        x = F.dropout(x, p=0.25, training=self.training)
        x = torch.tanh(self.fc2(x))
        return self.out(x)


def run_epoch(net, loader, opt=None):
    net.train(opt is not None)
    total, right, seen = 0.0, 0, 0
    for x, y in loader:
        with torch.set_grad_enabled(opt is not None):
            scores = net(x)
            loss = F.cross_entropy(scores, y)
        if opt is not None:
            opt.zero_grad(set_to_none=True)
            loss.backward()
            opt.step()
        total += loss.item() * len(y)
        right += (scores.argmax(dim=1) == y).sum().item()
        seen += len(y)
    return total / seen, right / seen


def main():
    torch.manual_seed(1)
    data = TensorDataset(*stripes(400))
    train, valid = random_split(data, [320, 80], generator=torch.Generator().manual_seed(3))
    train_loader = DataLoader(train, 32, shuffle=True)
    valid_loader = DataLoader(valid, batch_size=80)

    net = Net()
    opt = optim.SGD(net.parameters(), lr=5e-2, momentum=0.9, weight_decay=5e-4)
    for epoch in range(1, 8 + 1):
        loss, acc = run_epoch(net, train_loader, opt)
        val_loss, val_acc = run_epoch(net, valid_loader)
        print("epoch %2d  loss %.4f  acc %.3f  val_loss %.4f  val_acc %.3f" % (epoch, loss, acc, val_loss, val_acc))


if __name__ == "__main__":
    main()
