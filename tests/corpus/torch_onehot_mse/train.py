import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(10)

n_classes = 6
centre = 2 * torch.randn(n_classes, 12)
target = torch.randint(n_classes, (330,))
x = centre[target] + torch.randn(330, 12)
y = F.one_hot(target, num_classes=n_classes).float()

class Model(nn.Module):
  def __init__(self):
    super().__init__()
    self.layers = nn.ModuleList([nn.Linear(12, 24), nn.Linear(24, 24), nn.Linear(24, n_classes)])
    self.softmax = nn.Softmax(dim=1)

  def forward(self, h):
    for layer in self.layers[:-1]:
      h = layer(h).relu()
    return self.softmax(self.layers[-1](h))

model = Model()
loss_fn = nn.MSELoss()
opt = torch.optim.SGD(model.parameters(), lr=0.1)
loader = DataLoader(TensorDataset(x, y), batch_size=33, shuffle=True)

for epoch in range(5):
  for xb, yb in loader:
    opt.zero_grad()
    loss = loss_fn(model(xb), yb)
    loss.backward()
    opt.step()
  print(f'epoch {epoch}: loss {loss.item():.4f} (lr=0.01, batch_size=64 would be the book\'s values)')

acc = (model(x).argmax(1) == target).float().mean()
print(f'acc {acc.item():.3f}')
