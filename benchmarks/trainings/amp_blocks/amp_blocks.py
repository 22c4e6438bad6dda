"""Half-precision training of a small residual MLP to halve memory; gradients are accumulated over four micro-batches."""
import torch
import torch.nn as nn
import torch.nn.functional as F
from sklearn.datasets import make_classification
from sklearn.model_selection import train_test_split
from torch.utils.data import DataLoader, TensorDataset

ACCUMULATE = 4
EPOCHS = 3
DTYPE = torch.float16


class Residual(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.norm = nn.LayerNorm(width)
        self.fc1 = nn.Linear(width, width)
        self.fc2 = nn.Linear(width, width)

    def forward(self, x):
        return x + self.fc2(F.relu(self.fc1(self.norm(x))))


class Net(nn.Module):
    def __init__(self, n_in, n_out, width=48, depth=1):
        super().__init__()
        self.stem = nn.Linear(n_in, width)
        self.blocks = nn.Sequential(*[Residual(width) for _ in range(depth)])
        self.head = nn.Linear(width, n_out)

    def forward(self, x):
        return self.head(self.blocks(self.stem(x)))


def get_data():
    x, y = make_classification(1600, 40, n_informative=15, n_classes=6, class_sep=1.5, random_state=0)
    x_train, x_val, y_train, y_val = train_test_split(x, y, test_size=0.2, random_state=0)
    mean, std = x_train.mean(0), x_train.std(0)

    def pack(a, b):
        return TensorDataset(torch.tensor((a - mean) / std, dtype=torch.float32), torch.tensor(b))

    return pack(x_train, y_train), pack(x_val, y_val)


@torch.no_grad()
def validate(model, loader):
    model.eval()
    loss = hits = n = 0
    for x, y in loader:
        logits = model(x.to(DTYPE)).float()
        loss += F.cross_entropy(logits, y, reduction="sum").item()
        hits += (logits.argmax(1) == y).sum().item()
        n += len(y)
    model.train()
    return loss / n, hits / n


def main():
    torch.manual_seed(7)
    train_set, val_set = get_data()
    train_loader = DataLoader(train_set, batch_size=16, shuffle=True, drop_last=True)
    val_loader = DataLoader(val_set, batch_size=320)
    model = Net(40, 6).to(DTYPE)
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    optimizer.zero_grad()
    for epoch in range(1, EPOCHS + 1):
        running = 0.0
        for i, (x, y) in enumerate(train_loader):
            logits = model(x.to(DTYPE))
            loss = F.cross_entropy(logits.float(), y) / ACCUMULATE
            loss.backward()
            running += loss.item() * ACCUMULATE
            if (i + 1) % ACCUMULATE == 0:
                torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
                optimizer.step()
                optimizer.zero_grad()
        val_loss, val_acc = validate(model, val_loader)
        print(f"epoch {epoch} train {running / len(train_loader):.4f} val {val_loss:.4f} acc {val_acc:.3f}")


if __name__ == "__main__":
    main()
