"""Pretrain a small conv net on digits 0-5, then fine-tune it for 6-9 with discriminative rates."""
import torch
import torch.nn as nn
from sklearn.datasets import load_digits
from torch.utils.data import DataLoader, TensorDataset


class SmallNet(nn.Module):
    def __init__(self, n_classes):
        super().__init__()
        self.backbone = nn.Sequential(
            nn.Conv2d(1, 16, 3, padding=1), nn.ReLU(),
            nn.Conv2d(16, 32, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
            nn.Conv2d(32, 32, 3, padding=1), nn.ReLU(), nn.AdaptiveAvgPool2d(2), nn.Flatten(),
        )
        self.head = nn.Linear(128, n_classes)

    def forward(self, x):
        return self.head(self.backbone(x))

    def reset_head(self, n_classes):
        self.head = nn.Linear(self.head.in_features, n_classes)
        return self


def loaders(keep, seed, batch_size=32, train_share=0.7):
    digits = load_digits()
    x = torch.tensor(digits.images, dtype=torch.float32).unsqueeze(1) / 16.0
    y = torch.tensor(digits.target)
    chosen = torch.isin(y, torch.tensor(keep))
    x, y = x[chosen], y[chosen] - min(keep)
    perm = torch.randperm(len(y), generator=torch.Generator().manual_seed(seed))
    cut = int(train_share * len(y))
    train = TensorDataset(x[perm[:cut]], y[perm[:cut]])
    test = TensorDataset(x[perm[cut:]], y[perm[cut:]])
    return DataLoader(train, batch_size, shuffle=True), DataLoader(test, 256)


def run_epoch(model, loader, optimizer=None):
    training = optimizer is not None
    model.train(training)
    loss_sum = correct = count = 0
    with torch.set_grad_enabled(training):
        for x, y in loader:
            logits = model(x)
            loss = nn.functional.cross_entropy(logits, y)
            if training:
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
            loss_sum += loss.item() * len(y)
            correct += (logits.argmax(1) == y).sum().item()
            count += len(y)
    return loss_sum / count, correct / count


def discriminative_optimizer(model, base_lr):
    return torch.optim.AdamW(
        [
            {"params": model.backbone.parameters(), "lr": base_lr / 100},
            {"params": model.head.parameters(), "lr": base_lr},
        ],
        weight_decay=1e-3,
    )


def pretrain(model, epochs):
    train, test = loaders([0, 1, 2, 3, 4, 5], seed=1)
    optimizer = torch.optim.AdamW(model.parameters(), lr=2e-3)
    for epoch in range(epochs):
        loss, acc = run_epoch(model, train, optimizer)
        _, test_acc = run_epoch(model, test)
        print(f"[pretrain {epoch + 1}] loss {loss:.4f} acc {acc:.4f} test acc {test_acc:.4f}")


def finetune(model, epochs):
    train, test = loaders([6, 7, 8, 9], seed=2, train_share=0.5)
    optimizer = discriminative_optimizer(model, base_lr=5e-3)
    model.reset_head(4)
    scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, epochs)
    for epoch in range(epochs):
        loss, acc = run_epoch(model, train, optimizer)
        scheduler.step()
        test_loss, test_acc = run_epoch(model, test)
        print(f"[finetune {epoch + 1:2d}] loss {loss:.4f} acc {acc:.4f} test loss {test_loss:.4f} test acc {test_acc:.4f}")


if __name__ == "__main__":
    torch.manual_seed(40)
    net = SmallNet(6)
    pretrain(net, epochs=8)
    finetune(net, epochs=15)
