"""A perceptron with two hidden layers on vectors of 784 numbers; batches are slices of shuffled tensors."""

import time

import torch
from torch import nn

torch.manual_seed(0)
centres = torch.randn(10, 784)
labels = torch.randint(0, 10, (6_400,))
inputs = centres[labels] + 4 * torch.randn(6_400, 784)

model = nn.Sequential(nn.Linear(784, 256), nn.ReLU(), nn.Linear(256, 128), nn.ReLU(), nn.Linear(128, 10))
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
criterion = nn.CrossEntropyLoss()

wall, cpu = time.perf_counter(), time.process_time()
for epoch in range(20):
    order = torch.randperm(len(inputs))
    total = 0.0
    for chosen in order.split(64):
        optimizer.zero_grad()
        loss = criterion(model(inputs[chosen]), labels[chosen])
        loss.backward()
        optimizer.step()
        total += loss.item() * len(chosen)
    print(f"epoch {epoch}: loss {total / len(inputs):.8f}")
print(f"trained in {time.perf_counter() - wall:.4f} s, {time.process_time() - cpu:.4f} s of CPU")
