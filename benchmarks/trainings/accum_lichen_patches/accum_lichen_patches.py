"""Lichen cover from small colour patches: micro-batches of two are all that fits, sixteen of them make a step."""

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset


class Patches(Dataset):
    """Blotches of four kinds differ in colour mix and grain; light differs from patch to patch."""

    def __init__(self, n, seed):
        g = torch.Generator().manual_seed(seed)
        self.kind = torch.randint(0, 4, (n,), generator=g)
        colour = torch.tensor([[1.0, 0.2, 0.1], [0.8, 0.5, 0.1], [0.3, 0.8, 0.4], [0.5, 0.6, 0.5]])
        coarse = torch.randn(n, 1, 4, 4, generator=g)
        fine = torch.randn(n, 1, 16, 16, generator=g)
        grain = torch.tensor([0.2, 0.6, 0.2, 0.8])[self.kind].view(-1, 1, 1, 1)
        texture = (1 - grain) * nn.functional.interpolate(coarse, size=16) + grain * fine
        light = 0.5 + torch.rand(n, 1, 1, 1, generator=g)
        self.image = light * colour[self.kind].view(-1, 3, 1, 1) * (1 + 0.6 * texture)

    def __len__(self):
        return len(self.kind)

    def __getitem__(self, i):
        return self.image[i], self.kind[i]


def conv(a, b):
    return nn.Sequential(nn.Conv2d(a, b, 3, padding=1, bias=False), nn.BatchNorm2d(b), nn.ReLU(), nn.MaxPool2d(2))


class PatchNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.features = nn.Sequential(conv(3, 16), conv(16, 32), conv(32, 32), nn.Flatten())
        self.head = nn.Sequential(nn.Linear(128, 32), nn.BatchNorm1d(32), nn.ReLU(), nn.Linear(32, 4))

    def forward(self, x):
        return self.head(self.features(x))


def evaluate(model, loader, criterion):
    model.eval()
    loss, right, count = 0.0, 0, 0
    with torch.no_grad():
        for x, y in loader:
            out = model(x)
            loss += criterion(out, y).item() * len(y)
            right += (out.argmax(1) == y).sum().item()
            count += len(y)
    return loss / count, right / count


MICRO_BATCH, ACCUMULATE = 2, 16
torch.manual_seed(55)
train = DataLoader(Patches(640, 1), batch_size=MICRO_BATCH, shuffle=True)
val = DataLoader(Patches(300, 2), batch_size=100)
model = PatchNet()
criterion = nn.CrossEntropyLoss()
optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
for epoch in range(5):
    model.train()
    running = 0.0
    optimizer.zero_grad()
    for number, (x, y) in enumerate(train, start=1):
        loss = criterion(model(x), y) / ACCUMULATE
        loss.backward()
        running += loss.item() * ACCUMULATE
        if number % ACCUMULATE == 0:
            optimizer.step()
            optimizer.zero_grad()
    val_loss, val_acc = evaluate(model, val, criterion)
    print(f"epoch {epoch} train loss {running / len(train):.4f} val loss {val_loss:.4f} val acc {val_acc:.3f}")
