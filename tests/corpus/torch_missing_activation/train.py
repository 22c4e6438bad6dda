import torch
import torch.nn as nn

torch.manual_seed(9)

# two rings: no straight line parts them
angle = 6.2832 * torch.rand(400)
radius = torch.cat([torch.full((200,), 1.0), torch.full((200,), 2.0)]) + 0.1 * torch.randn(400)
x = torch.stack([radius * angle.cos(), radius * angle.sin()], dim=1)
y = torch.cat([torch.zeros(200), torch.ones(200)]).unsqueeze(1)


class Rings(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc1 = nn.Linear(2, 16)
        self.fc2 = nn.Linear(16, 16)
        self.fc3 = nn.Linear(16, 1)

    def forward(self, x):
        x = self.fc1(x)
        x = self.fc2(x)
        return torch.sigmoid(self.fc3(x))


model = Rings()
criterion = nn.BCELoss()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
loader = torch.utils.data.DataLoader(torch.utils.data.TensorDataset(x, y), batch_size=20, shuffle=True)

for epoch in range(1):
    for xb, yb in loader:
        optimizer.zero_grad()
        loss = criterion(model(xb), yb)
        loss.backward()
        optimizer.step()

with torch.no_grad():
    print("accuracy:", round(((model(x) > 0.5).float() == y).float().mean().item(), 4))
