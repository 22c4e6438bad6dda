import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(21)
FEATURES = 20


def ratings(rows):
    taste = torch.randn(FEATURES, generator=torch.Generator().manual_seed(8))
    films = torch.randn(rows, FEATURES)
    liked = ((films @ taste + 0.8 * (films[:, 0] * films[:, 1]) + 0.5 * torch.randn(rows)) > 0).float()
    return films, liked.unsqueeze(1)


model = nn.Sequential(
    nn.Linear(FEATURES, 64),
    nn.ReLU(),
    nn.Dropout(0.5),
    nn.Linear(64, 32),
    nn.ReLU(),
    nn.Dropout(0.5),
    nn.Linear(32, 1),
)
train = DataLoader(TensorDataset(*ratings(2000)), batch_size=50, shuffle=True)
films, liked = ratings(600)
optimizer = torch.optim.Adam(model.parameters(), lr=0.003)
criterion = nn.BCEWithLogitsLoss()

for epoch in range(10):
    for batch, targets in train:
        optimizer.zero_grad()
        loss = criterion(model(batch), targets)
        loss.backward()
        optimizer.step()
    with torch.no_grad():
        scores = model(films)
    val_loss = criterion(scores, liked).item()
    accuracy = ((scores > 0).float() == liked).float().mean().item()
    print(f"epoch {epoch} loss {loss.item():.4f} val_loss {val_loss:.4f} val_accuracy {accuracy:.3f}")
