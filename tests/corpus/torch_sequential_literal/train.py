"""Three noisy clusters, one small perceptron, everything written where it is used."""
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)

centres = torch.tensor([[2.0, 0.0, 1.0, -1.0], [-2.0, 1.0, 0.0, 1.0], [0.0, -2.0, -1.0, 2.0]])
labels = torch.arange(240) % 3
points = centres[labels] + 0.6 * torch.randn(240, 4)

train_set = TensorDataset(points[:192], labels[:192])
loader = DataLoader(train_set, batch_size=24, shuffle=True)

model = nn.Sequential(
    nn.Linear(4, 32),
    nn.ReLU(),
    nn.Linear(32, 16),
    nn.Tanh(),
    nn.Linear(16, 3),
)
criterion = nn.CrossEntropyLoss()
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)

for epoch in range(6):
    model.train()
    for batch, target in loader:
        optimizer.zero_grad()
        loss = criterion(model(batch), target)
        loss.backward()
        optimizer.step()
    print(f"epoch {epoch + 1}/6 loss {loss.item():.4f}")

model.eval()
with torch.no_grad():
    accuracy = (model(points[192:]).argmax(1) == labels[192:]).float().mean().item()
print(f"test accuracy: {accuracy:.4f}")
