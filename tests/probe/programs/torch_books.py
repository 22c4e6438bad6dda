import copy
import hashlib
import io

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(3)
x = torch.randn(128, 6)
y = x[:, :3].argmax(1)
train, held = TensorDataset(x[:96], y[:96]), TensorDataset(x[96:], y[96:])
model = nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Linear(16, 16), nn.ReLU(), nn.Linear(16, 3))
model[2].weight = model[2].weight
optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
schedule = torch.optim.lr_scheduler.ReduceLROnPlateau(optimizer, mode="max", patience=2)
decay = torch.optim.lr_scheduler.ExponentialLR(optimizer, 0.99)
best, kept = 0.0, None
for epoch in range(6):
    model.train()
    for inputs, labels in DataLoader(train, batch_size=16, shuffle=True):
        model.zero_grad()
        loss = nn.functional.cross_entropy(model(inputs), labels)
        loss.backward()
        optimizer.step()
    model.eval()
    with torch.no_grad():
        right = sum(
            (model(a).argmax(1) == b).sum().item() for a, b in DataLoader(held, batch_size=8)
        )
    print(f"epoch {epoch} val_accuracy {right / 32}")
    schedule.step(right / 32)
    decay.step()
    if right / 32 >= best:
        best, kept = right / 32, copy.deepcopy(model.state_dict())
torch.save(kept, io.BytesIO())
model.load_state_dict(kept)
weights = b"".join(p.detach().numpy().tobytes() for p in model.parameters())
print(hashlib.sha256(weights).hexdigest(), torch.rand(1).item())
