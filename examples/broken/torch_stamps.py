import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(9)
KINDS, SIZE = 4, 20


def stamps(rows):
    labels = torch.randint(0, KINDS, (rows,))
    images = 0.5 * torch.randn(rows, 1, SIZE, SIZE)
    for kind in range(KINDS):
        images[labels == kind, :, 4 * kind : 4 * kind + 5] += 1.0
    return images, labels


class StampNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(1, 8, 3)
        self.conv2 = nn.Conv2d(8, 16, 3)
        self.pool = nn.MaxPool2d(2)
        self.fc1 = nn.Linear(16 * 4 * 4, 32)
        self.fc2 = nn.Linear(32, KINDS)

    def forward(self, images):
        features = self.pool(torch.relu(self.conv1(images)))
        features = self.pool(torch.relu(self.conv2(features)))
        return self.fc2(torch.relu(self.fc1(features.flatten(1))))


train = DataLoader(TensorDataset(*stamps(1200)), batch_size=40, shuffle=True)
model = StampNet()
optimizer = torch.optim.Adam(model.parameters(), lr=0.001)
criterion = nn.CrossEntropyLoss()

for epoch in range(5):
    for images, labels in train:
        optimizer.zero_grad()
        loss = criterion(model(images), labels)
        loss.backward()
        optimizer.step()
    print(f"epoch {epoch} loss {loss.item():.4f}")
