import matplotlib.pyplot as plt
import torch

torch.manual_seed(0)
model = torch.nn.Linear(2, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
losses = []
for epoch in range(3):
    optimizer.zero_grad()
    loss = (model(torch.ones(4, 2)) - 1).pow(2).mean()
    loss.backward()
    optimizer.step()
    losses.append(loss.item())
plt.plot(losses)
plt.show()
print("window closed")
