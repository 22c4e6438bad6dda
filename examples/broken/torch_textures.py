import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(11)
KINDS, SIZE = 5, 16


def textures(rows):
    labels = torch.randint(0, KINDS, (rows,))
    axis = torch.arange(SIZE).float()
    angle = labels.float() * torch.pi / KINDS
    waves = angle.cos()[:, None, None] * axis[:, None] + angle.sin()[:, None, None] * axis
    phase = 6.28 * torch.rand(rows, 1, 1)
    return (torch.sin(1.2 * waves + phase) + 0.8 * torch.randn(rows, SIZE, SIZE)).unsqueeze(1), labels


class Classifier(nn.Module):
    def __init__(self):
        super().__init__()
        self.backbone = nn.Sequential(
            nn.Conv2d(1, 12, 3, padding=1),
            nn.ReLU(),
            nn.MaxPool2d(2),
            nn.Conv2d(12, 24, 3, padding=1),
            nn.ReLU(),
            nn.AdaptiveAvgPool2d(1),
            nn.Flatten(),
        )
        self.head = nn.Linear(24, KINDS)

    def forward(self, images):
        return self.head(self.backbone(images))


train = DataLoader(TensorDataset(*textures(1500)), batch_size=50, shuffle=True)
images, labels = textures(500)
model = Classifier()
optimizer = torch.optim.Adam(model.head.parameters(), lr=0.003)
criterion = nn.CrossEntropyLoss()

for epoch in range(8):
    model.train()
    for batch, targets in train:
        optimizer.zero_grad()
        loss = criterion(model(batch), targets)
        loss.backward()
        optimizer.step()
    model.eval()
    with torch.no_grad():
        accuracy = (model(images).argmax(1) == labels).float().mean().item()
    print(f"epoch {epoch} loss {loss.item():.4f} val_accuracy {accuracy:.3f}")
