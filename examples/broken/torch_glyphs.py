import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(3)
CLASSES, SIZE = 10, 12


def glyphs(rows):
    shapes = torch.randn(CLASSES, SIZE * SIZE, generator=torch.Generator().manual_seed(1))
    labels = torch.randint(0, CLASSES, (rows,))
    return shapes[labels] + 3.0 * torch.randn(rows, SIZE * SIZE), labels


class Reader(nn.Module):
    def __init__(self):
        super().__init__()
        self.hidden = nn.Linear(SIZE * SIZE, 96)
        self.out = nn.Linear(96, CLASSES)
        self.probabilities = nn.Softmax(dim=1)

    def forward(self, pixels):
        return self.probabilities(self.out(torch.relu(self.hidden(pixels))))


train = DataLoader(TensorDataset(*glyphs(3000)), batch_size=64, shuffle=True)
test = DataLoader(TensorDataset(*glyphs(1000)), batch_size=500)
model = Reader()
criterion = nn.CrossEntropyLoss()
optimizer = torch.optim.SGD(model.parameters(), lr=0.02)

for epoch in range(8):
    model.train()
    for pixels, labels in train:
        optimizer.zero_grad()
        loss = criterion(model(pixels), labels)
        loss.backward()
        optimizer.step()
    model.eval()
    with torch.no_grad():
        right = sum((model(pixels).argmax(1) == labels).sum().item() for pixels, labels in test)
    print(f"epoch {epoch} loss {loss.item():.4f} val_accuracy {right / 1000:.3f}")
