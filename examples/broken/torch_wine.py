import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(2)
FEATURES, KINDS = 13, 3


def bottles(rows):
    centres = 1.4 * torch.randn(KINDS, FEATURES, generator=torch.Generator().manual_seed(4))
    kinds = torch.randint(0, KINDS, (rows,))
    return centres[kinds] + torch.randn(rows, FEATURES), kinds


def init_weights(layer):
    if isinstance(layer, nn.Linear):
        nn.init.normal_(layer.weight, std=4.0)
        nn.init.zeros_(layer.bias)


model = nn.Sequential(
    nn.Linear(FEATURES, 64),
    nn.Sigmoid(),
    nn.Linear(64, 64),
    nn.Sigmoid(),
    nn.Linear(64, 64),
    nn.Sigmoid(),
    nn.Linear(64, 64),
    nn.Sigmoid(),
    nn.Linear(64, KINDS),
)
model.apply(init_weights)
train = DataLoader(TensorDataset(*bottles(1600)), batch_size=40, shuffle=True)
samples, kinds = bottles(400)
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
criterion = nn.CrossEntropyLoss()

for epoch in range(10):
    model.train()
    for batch, targets in train:
        optimizer.zero_grad()
        loss = criterion(model(batch), targets)
        loss.backward()
        optimizer.step()
    model.eval()
    with torch.no_grad():
        accuracy = (model(samples).argmax(1) == kinds).float().mean().item()
    print(f"epoch {epoch} loss {loss.item():.4f} val_accuracy {accuracy:.3f}")
