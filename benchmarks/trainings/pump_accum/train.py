"""Pump fault grading from vibration features. Small memory budget: micro-batches with accumulation under autocast."""
import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset, random_split

MICRO_BATCH = 2
ACCUM_STEPS = 8
EPOCHS = 3
GRADES = 5
FEATURES = 40


def vibration_features(n):
    load = torch.randn(n, 4)
    wear = torch.rand(n, 1) * GRADES
    basis = torch.randn(9, FEATURES) * 0.5
    inner = torch.cat([load, torch.sin(wear * 1.3), torch.cos(wear * 1.3), wear / GRADES, load[:, :2] * wear / GRADES], dim=1)
    x = inner @ basis + 0.15 * torch.randn(n, FEATURES)
    return x, wear.squeeze(1).long().clamp(max=GRADES - 1)


class GradeNet(nn.Module):
    def __init__(self, width=96):
        super().__init__()
        self.fc1 = nn.Linear(FEATURES, width)
        self.norm1 = nn.BatchNorm1d(width)
        self.fc2 = nn.Linear(width, width)
        self.norm2 = nn.BatchNorm1d(width)
        self.head = nn.Linear(width, GRADES)

    def forward(self, x):
        x = torch.relu(self.norm1(self.fc1(x)))
        x = torch.relu(self.norm2(self.fc2(x)))
        return self.head(x)


@torch.no_grad()
def evaluate(model, loader, criterion):
    model.eval()
    loss_sum = hits = count = 0
    for x, y in loader:
        logits = model(x)
        loss_sum += criterion(logits, y).item() * len(y)
        hits += (logits.argmax(1) == y).sum().item()
        count += len(y)
    return loss_sum / count, hits / count


def main():
    torch.manual_seed(15)
    data = TensorDataset(*vibration_features(2560))
    train_set, val_set = random_split(data, [1280, 1280])
    train_loader = DataLoader(train_set, batch_size=MICRO_BATCH, shuffle=True, drop_last=True)
    val_loader = DataLoader(val_set, batch_size=128)

    model = GradeNet()
    criterion = nn.CrossEntropyLoss()
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3, weight_decay=1e-2)
    updates = EPOCHS * len(train_loader) // ACCUM_STEPS
    scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, updates)

    for epoch in range(EPOCHS):
        model.train()
        optimizer.zero_grad(set_to_none=True)
        running = 0.0
        for i, (x, y) in enumerate(train_loader):
            with torch.autocast("cpu", dtype=torch.bfloat16):
                loss = criterion(model(x), y)
            (loss / ACCUM_STEPS).backward()
            running += loss.item()
            if (i + 1) % ACCUM_STEPS == 0:
                nn.utils.clip_grad_norm_(model.parameters(), 2.0)
                optimizer.step()
                scheduler.step()
                optimizer.zero_grad(set_to_none=True)
        val_loss, val_acc = evaluate(model, val_loader, criterion)
        print(f"epoch {epoch + 1} train_loss {running / len(train_loader):.4f} val_loss {val_loss:.4f} val_acc {val_acc:.3f}")


if __name__ == "__main__":
    main()
