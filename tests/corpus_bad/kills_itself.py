import os
import signal

import torch

model = torch.nn.Linear(2, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for step in range(4):
    optimizer.zero_grad()
    model(torch.ones(4, 2)).mean().backward()
    optimizer.step()
print("out of memory, says the kernel", flush=True)
os.kill(os.getpid(), signal.SIGKILL)
