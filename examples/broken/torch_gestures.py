import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(7)
GESTURES, LENGTH = 6, 24


def gestures(rows):
    time = torch.linspace(0, 1, LENGTH)
    labels = torch.randint(0, GESTURES, (rows,))
    pitch = (labels + 1).float()[:, None]
    phase = 2 * torch.rand(rows, 1)
    waves = torch.stack([torch.sin(6 * pitch * time + phase), torch.cos(4 * pitch * time + phase)], 1)
    return waves + 0.3 * torch.randn(rows, 2, LENGTH), labels


class Recogniser(nn.Module):
    def __init__(self):
        super().__init__()
        self.features = nn.Sequential(
            nn.Conv1d(2, 16, 5, padding=2),
            nn.ReLU(),
            nn.MaxPool1d(2),
            nn.Conv1d(16, 32, 3, padding=1),
            nn.ReLU(),
            nn.MaxPool1d(2),
        )
        self.head = nn.Linear(32 * 6, GESTURES)

    def forward(self, waves):
        return self.head(self.features(waves).flatten(1))


train = DataLoader(TensorDataset(*gestures(2400)), batch_size=48, shuffle=True)
waves, labels = gestures(800)
model = Recogniser()
optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)

for epoch in range(8):
    model.train()
    for batch, targets in train:
        loss = nn.functional.cross_entropy(model(batch), targets)
        loss.backward()
        optimizer.step()
    model.eval()
    with torch.no_grad():
        accuracy = (model(waves).argmax(1) == labels).float().mean().item()
    print(f"epoch {epoch} loss {loss.item():.4f} val_accuracy {accuracy:.3f}")
