"""python -m pkg_parts.train"""
import torch
import torch.nn.functional as F

from .dataset import get_loaders
from .network import PartsNet


def train_one_epoch(net, loader, optimizer):
    net.train()
    total = hits = seen = 0
    for x, y in loader:
        optimizer.zero_grad()
        out = net(x)
        loss = F.cross_entropy(out, y)
        loss.backward()
        optimizer.step()
        total += loss.item() * len(y)
        hits += (out.argmax(1) == y).sum().item()
        seen += len(y)
    return total / seen, hits / seen


@torch.no_grad()
def test(net, loader):
    net.eval()
    for x, y in loader:
        guess = net(x).argmax(1)
        accuracy = (guess == y).float().mean().item()
    return accuracy


def main():
    torch.manual_seed(31)
    train_loader, test_loader = get_loaders(batch_size=32)
    net = PartsNet()
    optimizer = torch.optim.Adam(net.parameters(), lr=1e-3)
    for epoch in range(1, 6):
        loss, acc = train_one_epoch(net, train_loader, optimizer)
        print(f"epoch {epoch}: loss {loss:.4f} train acc {acc:.3f} test acc {test(net, test_loader):.3f}")


if __name__ == "__main__":
    main()
