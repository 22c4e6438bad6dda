import hashlib

import torch
from torch import nn
from torch.nn import functional
from torch.utils.data import DataLoader, TensorDataset, random_split

torch.manual_seed(3)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Linear(6, 16)
        self.drop = nn.Dropout(0.2)
        self.last = nn.Linear(16, 3)

    def forward(self, x):
        return self.last(self.drop(functional.relu(self.first(x))))


x = torch.randn(160, 6)
y = x[:, :3].argmax(1)
train, held = random_split(
    TensorDataset(x, y), [128, 32], generator=torch.Generator().manual_seed(1)
)
loader = DataLoader(train, batch_size=16, shuffle=True)
model = Net()
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
for epoch in range(8):
    model.train()
    for inputs, labels in loader:
        optimizer.zero_grad()
        loss = functional.cross_entropy(model(inputs), labels)
        loss.backward()
        optimizer.step()
        print(repr(loss.item()))
    model.eval()
    with torch.no_grad():
        right = sum(
            (model(a).argmax(1) == b).sum().item() for a, b in DataLoader(held, batch_size=8)
        )
    print(f"epoch {epoch} val accuracy {right / 32}")
weights = b"".join(p.detach().numpy().tobytes() for p in model.parameters())
print(hashlib.sha256(weights).hexdigest(), torch.rand(1).item())
