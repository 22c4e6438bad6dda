"""Two convolutions of 16 and 32 channels on pictures of 28 x 28, fed by a data loader."""

import time

import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(1, 16, 3, padding=1)
        self.conv2 = nn.Conv2d(16, 32, 3, padding=1)
        self.drop = nn.Dropout(0.25)
        self.out = nn.Linear(32 * 7 * 7, 10)

    def forward(self, x):
        x = F.max_pool2d(F.relu(self.conv1(x)), 2)
        x = F.max_pool2d(F.relu(self.conv2(x)), 2)
        return self.out(self.drop(x.flatten(1)))


torch.manual_seed(0)
centres = torch.randn(10, 1, 28, 28)
labels = torch.randint(0, 10, (3_200,))
images = centres[labels] + 3 * torch.randn(3_200, 1, 28, 28)
loader = DataLoader(TensorDataset(images, labels), batch_size=32, shuffle=True)

model = Net()
optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)

wall, cpu = time.perf_counter(), time.process_time()
for epoch in range(5):
    model.train()
    total = 0.0
    for x, y in loader:
        optimizer.zero_grad()
        loss = F.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()
        total += loss.item() * len(x)
    print(f"epoch {epoch}: loss {total / len(images):.8f}")
print(f"trained in {time.perf_counter() - wall:.4f} s, {time.process_time() - cpu:.4f} s of CPU")
