"""Classify small grey pictures that were stored one folder per class (here: scikit-learn's digits)."""

import numpy as np
import torch
import torch.nn.functional as F
from sklearn.datasets import load_digits
from torch import nn
from torch.utils.data import DataLoader, Dataset

np.random.seed(0)
torch.manual_seed(0)


class FolderDataset(Dataset):
    """Walks class folders in order, as an image-folder reader does."""

    def __init__(self, images, labels, rows):
        self.samples = []
        for folder in sorted(set(labels.tolist())):
            for row in rows:
                if labels[row] == folder:
                    self.samples.append((images[row], folder))

    def __len__(self):
        return len(self.samples)

    def __getitem__(self, index):
        image, label = self.samples[index]
        return torch.tensor(image / 16.0, dtype=torch.float32).unsqueeze(0), label


class SmallConv(nn.Module):
    def __init__(self, classes):
        super().__init__()
        self.conv1 = nn.Conv2d(1, 16, 3, padding=1)
        self.conv2 = nn.Conv2d(16, 32, 3, padding=1)
        self.fc = nn.Linear(32 * 2 * 2, classes)

    def forward(self, x):
        x = F.max_pool2d(F.relu(self.conv1(x)), 2)
        x = F.max_pool2d(F.relu(self.conv2(x)), 2)
        return self.fc(x.flatten(1))


digits = load_digits()
rows = np.random.permutation(len(digits.target))
train_rows, val_rows = rows[:1400], rows[1400:]

train_ds = FolderDataset(digits.images, digits.target, train_rows)
val_ds = FolderDataset(digits.images, digits.target, val_rows)
train_dl = DataLoader(train_ds, batch_size=32)
val_dl = DataLoader(val_ds, batch_size=256)

model = SmallConv(10)
optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)


def validate():
    model.eval()
    right = 0
    with torch.no_grad():
        for images, labels in val_dl:
            right += (model(images).argmax(1) == labels).sum().item()
    return right / len(val_ds)


for epoch in range(8):
    model.train()
    seen = 0.0
    for images, labels in train_dl:
        loss = F.cross_entropy(model(images), labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        seen += loss.item() * len(labels)
    print(f"epoch {epoch} train_loss={seen / len(train_ds):.4f} val_acc={validate():.4f}")
