"""Digits classifier with bfloat16 autocast, gradient accumulation and clipping."""

import time

import torch
import torch.nn as nn
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from torch.utils.data import DataLoader, TensorDataset

DEVICE = "cpu"
ACCUM_STEPS = 4
MICRO_BATCH = 16
MAX_GRAD_NORM = 1.0
EPOCHS = 6


class DigitNet(nn.Module):
    def __init__(self, classes=10):
        super().__init__()
        self.features = nn.Sequential(
            nn.Flatten(),
            nn.Linear(64, 64), nn.LayerNorm(64), nn.ReLU(),
            nn.Linear(64, 64), nn.LayerNorm(64), nn.ReLU(),
        )
        self.classifier = nn.Linear(64, classes)

    def forward(self, images):
        return self.classifier(self.features(images))


def loaders():
    digits = load_digits()
    images = torch.tensor(digits.images, dtype=torch.float32).unsqueeze(1) / 16.0
    images = (images - images.mean()) / images.std()
    labels = torch.tensor(digits.target)
    tr, te = train_test_split(range(len(labels)), test_size=0.2, random_state=0, stratify=labels)
    train = DataLoader(TensorDataset(images[tr], labels[tr]), batch_size=MICRO_BATCH, shuffle=True, drop_last=True)
    test = DataLoader(TensorDataset(images[te], labels[te]), batch_size=256)
    return train, test


@torch.inference_mode()
def test_accuracy(model, loader):
    model.eval()
    right = sum((model(x.to(DEVICE)).argmax(1).cpu() == y).sum().item() for x, y in loader)
    return right / len(loader.dataset)


def main():
    torch.manual_seed(1337)
    train_loader, test_loader = loaders()
    model = DigitNet().to(DEVICE)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9, weight_decay=1e-4)
    scaler = torch.amp.GradScaler(DEVICE, enabled=False)
    criterion = nn.CrossEntropyLoss()

    for epoch in range(EPOCHS):
        model.train()
        t0, running = time.time(), 0.0
        optimizer.zero_grad(set_to_none=True)
        for i, (x, y) in enumerate(train_loader):
            with torch.autocast(device_type=DEVICE, dtype=torch.bfloat16):
                loss = criterion(model(x.to(DEVICE)), y.to(DEVICE)) / ACCUM_STEPS
            scaler.scale(loss).backward()
            running += loss.item() * ACCUM_STEPS
            if (i + 1) % ACCUM_STEPS == 0:
                scaler.unscale_(optimizer)
                nn.utils.clip_grad_norm_(model.parameters(), MAX_GRAD_NORM)
                scaler.step(optimizer)
                scaler.update()
                optimizer.zero_grad(set_to_none=True)
        print(
            f"epoch {epoch}: loss {running / len(train_loader):.4f} "
            f"acc {test_accuracy(model, test_loader):.4f} ({time.time() - t0:.1f}s)"
        )


if __name__ == "__main__":
    main()
