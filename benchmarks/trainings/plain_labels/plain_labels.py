"""Plain loop: small conv net for garment silhouettes with random shifts and erasing."""
import numpy as np
import torch
import torch.nn as nn
import torch.optim as optim
from torch.utils.data import DataLoader, Dataset, random_split


def silhouette(kind, rng):
    img = np.zeros((14, 14))
    h = rng.integers(9, 13)
    if kind == 0:
        img[1:h, 4:10] = 1
        img[2:5, 1:13] = 1
    elif kind == 1:
        img[1:h, 3:6] = img[1:h, 8:11] = 1
        img[1:4, 3:11] = 1
    elif kind == 2:
        for r in range(1, h):
            w = 2 + r // 3
            img[r, 7 - w : 7 + w] = 1
    else:
        img[6:h, 2:12] = 1
        img[3:6, 8:12] = 1
    return img * rng.uniform(0.5, 1.0) + rng.normal(0, 0.25, img.shape)


class Garments(Dataset):
    def __init__(self, n, augment, seed=0):
        rng = np.random.default_rng(seed)
        self.y = torch.tensor(rng.integers(0, 4, n))
        self.x = torch.tensor(np.stack([silhouette(k, rng) for k in self.y.tolist()]), dtype=torch.float32).unsqueeze(1)
        self.augment = augment

    def __len__(self):
        return len(self.y)

    def __getitem__(self, i):
        img = self.x[i]
        if self.augment:
            img = torch.roll(img, tuple(torch.randint(-3, 4, (2,)).tolist()), dims=(1, 2))
            r, c = torch.randint(0, 7, (2,)).tolist()
            img = img.clone()
            img[:, r : r + 8, c : c + 8] = 0.0
        return img, self.y[i]


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(1, 16, 3, padding=1)
        self.conv2 = nn.Conv2d(16, 32, 3, padding=1)
        self.pool = nn.MaxPool2d(2)
        self.drop = nn.Dropout(0.5)
        self.fc1 = nn.Linear(32 * 9, 64)
        self.fc2 = nn.Linear(64, 4)

    def forward(self, x):
        x = self.pool(torch.relu(self.conv1(x)))
        x = self.pool(torch.relu(self.conv2(x)))
        x = self.drop(torch.flatten(x, 1))
        x = self.drop(torch.relu(self.fc1(x)))
        return self.fc2(x)


def main():
    torch.manual_seed(0)
    dataset = Garments(1500, augment=True)
    train_set, val_set = random_split(dataset, [1200, 300], generator=torch.Generator().manual_seed(0))
    train_loader = DataLoader(train_set, batch_size=32, shuffle=True)
    val_loader = DataLoader(val_set, batch_size=100)
    net = Net()
    net.train()
    criterion = nn.CrossEntropyLoss()
    optimizer = optim.Adam(net.parameters(), lr=1e-3)
    for epoch in range(6):
        running_loss = 0.0
        for inputs, labels in train_loader:
            optimizer.zero_grad()
            loss = criterion(net(inputs), labels)
            loss.backward()
            optimizer.step()
            running_loss += loss.item()

        correct = total = 0
        with torch.no_grad():
            for inputs, labels in val_loader:
                predicted = net(inputs).argmax(1)
                total += labels.size(0)
                correct += (predicted == labels).sum().item()
        print(f"[{epoch + 1}] loss: {running_loss / len(train_loader):.3f} val accuracy: {correct / total:.3f}")
    print("Finished Training")


if __name__ == "__main__":
    main()
