import torch
from torch import nn

torch.manual_seed(11)

features = torch.rand(300, 6) * 2 - 1
target = (features[:, 0] * features[:, 1] > 0).long()


class XorNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(6, 20), nn.LeakyReLU(0.1), nn.Linear(20, 20), nn.LeakyReLU(0.1))
        self.head = nn.Linear(20, 2)

    def forward(self, x):
        return self.head(self.body(x))


model = XorNet()
loss_function = nn.CrossEntropyLoss()
optimiser = torch.optim.Adam(model.parameters(), lr=0.01)
batches = torch.utils.data.DataLoader(
    torch.utils.data.TensorDataset(features, target),
    batch_size=50,
    shuffle=True,
)

for epoch in range(12):
    running = 0.0
    for inputs, classes in batches:
        outputs = model(inputs)
        loss = loss_function(outputs, classes)
        loss.backward()
        optimiser.step()
        running += loss.item()
    print("epoch", epoch, "loss", round(running / len(batches), 4))

with torch.no_grad():
    hits = (model(features).argmax(1) == target).float().mean()
print("accuracy %.3f" % hits.item())
