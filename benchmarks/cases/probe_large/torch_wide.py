"""A hundred million parameters: what a probe keeps of them must stay small."""

import resource
import time

import torch
from torch import nn

torch.manual_seed(0)
inputs, labels = torch.randn(256, 1024), torch.randint(0, 10, (256,))
model = nn.Sequential(
    nn.Linear(1024, 8192), nn.ReLU(), nn.Linear(8192, 8192), nn.ReLU(), nn.Linear(8192, 2950), nn.ReLU(), nn.Linear(2950, 10)
)
assert 0.99e8 < sum(parameter.numel() for parameter in model.parameters()) < 1.02e8
optimizer = torch.optim.SGD(model.parameters(), lr=1e-3, momentum=0.9)
criterion = nn.CrossEntropyLoss()

wall, cpu = time.perf_counter(), time.process_time()
for epoch in range(2):
    for chosen in torch.arange(256).split(16):
        optimizer.zero_grad()
        loss = criterion(model(inputs[chosen]), labels[chosen])
        loss.backward()
        optimizer.step()
    print(f"epoch {epoch}: loss {loss.item():.8f}")
print(f"trained in {time.perf_counter() - wall:.4f} s, {time.process_time() - cpu:.4f} s of CPU")
print(f"memory {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.1f} MB")
