import torch
import torch.nn.functional as F


def fit(model, optimizer, train_loader, val_loader, epochs, tag):
    for epoch in range(epochs):
        model.train()
        total = 0.0
        for x, y in train_loader:
            loss = F.cross_entropy(model(x), y)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            total += loss.item()
        acc = score(model, val_loader)
        print(f"{tag} epoch {epoch}: loss {total / len(train_loader):.4f} val_acc {acc:.4f}")
    return acc


@torch.no_grad()
def score(model, loader):
    model.eval()
    hits = sum((model(x).argmax(1) == y).sum().item() for x, y in loader)
    return hits / len(loader.dataset)
