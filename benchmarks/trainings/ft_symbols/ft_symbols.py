"""Fine-tuning: a conv net trained on many symbols gets a new head for five new ones."""
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset


def symbol_bank(n_symbols, seed):
    rng = np.random.default_rng(seed)
    return (rng.random((n_symbols, 10, 10)) < 0.35).astype(np.float32)


def render(bank, n, seed):
    rng = np.random.default_rng(seed)
    label = rng.integers(0, len(bank), n)
    img = bank[label] * rng.uniform(0.7, 1.3, (n, 1, 1)) + rng.normal(0, 0.4, (n, 10, 10))
    return TensorDataset(torch.tensor(img, dtype=torch.float32).unsqueeze(1), torch.tensor(label))


class SymbolNet(nn.Module):
    def __init__(self, n_classes):
        super().__init__()
        self.conv1 = nn.Conv2d(1, 16, 3, padding=1)
        self.conv2 = nn.Conv2d(16, 32, 3, padding=1)
        self.fc = nn.Linear(32 * 25, n_classes)

    def forward(self, x):
        x = F.max_pool2d(F.relu(self.conv1(x)), 2)
        x = F.relu(self.conv2(x))
        return self.fc(x.flatten(1))


def fit(model, optimizer, loader, epochs, val_loader, tag):
    for epoch in range(1, epochs + 1):
        model.train()
        total = 0.0
        for x, y in loader:
            loss = F.cross_entropy(model(x), y)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            total += loss.item()
        print(f"{tag} epoch {epoch} loss {total / len(loader):.4f} val acc {accuracy(model, val_loader):.3f}")


def accuracy(model, loader):
    model.eval()
    with torch.no_grad():
        hits = torch.cat([(model(x).argmax(1) == y).float() for x, y in loader])
    return hits.mean().item()


def pretrain():
    bank = symbol_bank(20, seed=0)
    model = SymbolNet(20)
    train = DataLoader(render(bank, 2000, 1), batch_size=64, shuffle=True)
    val = DataLoader(render(bank, 400, 2), batch_size=400)
    fit(model, torch.optim.Adam(model.parameters(), lr=2e-3), train, 3, val, "pretrain")
    return model.state_dict()


def finetune(weights):
    bank = symbol_bank(5, seed=100)
    train = DataLoader(render(bank, 200, 3), batch_size=20, shuffle=True)
    val = DataLoader(render(bank, 400, 4), batch_size=400)
    model = SymbolNet(20)
    model.load_state_dict(weights)
    for p in model.parameters():
        p.requires_grad = False
    for p in model.fc.parameters():
        p.requires_grad = True
    optimizer = torch.optim.Adam((p for p in model.parameters() if p.requires_grad), lr=1e-3)
    model.fc = nn.Linear(model.fc.in_features, 5)
    fit(model, optimizer, train, 10, val, "finetune")


if __name__ == "__main__":
    torch.manual_seed(9)
    finetune(pretrain())
