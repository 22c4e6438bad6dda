import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
import torch.optim as optim


class LeNet(nn.Module):
    def __init__(self):
        super(LeNet, self).__init__()
        self.conv1 = nn.Conv2d(1, 6, 5)
        self.conv2 = nn.Conv2d(6, 16, 3)
        self.fc1 = nn.Linear(16 * 2 * 2, 32)
        self.fc2 = nn.Linear(32, 10)
        self.dropout = nn.Dropout2d(0.2)

    def forward(self, x):
        x = F.max_pool2d(F.relu(self.conv1(x)), 2)
        x = self.dropout(x)
        x = F.max_pool2d(F.relu(self.conv2(x)), (2, 2))
        x = x.view(-1, 16 * 2 * 2)
        x = F.relu(self.fc1(x))
        return F.log_softmax(self.fc2(x), dim=1)


rng = np.random.RandomState(0)
torch.manual_seed(0)

# ten smooth grey pictures, 0..255 as a camera delivers them
prototypes = rng.randint(0, 256, (10, 4, 4)).repeat(4, axis=1).repeat(4, axis=2)
labels = rng.randint(0, 10, 300)
images = np.clip(prototypes[labels] + rng.randint(-20, 21, (300, 16, 16)), 0, 255)

x_train = torch.tensor(images[:250], dtype=torch.float32).unsqueeze(1)
y_train = torch.tensor(labels[:250])
x_test = torch.tensor(images[250:], dtype=torch.float32).unsqueeze(1)
y_test = torch.tensor(labels[250:])

trainset = torch.utils.data.TensorDataset(x_train, y_train)
trainloader = torch.utils.data.DataLoader(trainset, batch_size=10, shuffle=False)

net = LeNet()
criterion = nn.NLLLoss()
optimizer = optim.SGD(net.parameters(), lr=0.02, momentum=0.9)

for epoch in range(6):  # loop over the dataset multiple times
    running_loss = 0.0
    net.train()
    for i, data in enumerate(trainloader, 0):
        inputs, targets = data
        optimizer.zero_grad()
        outputs = net(inputs)
        loss = criterion(outputs, targets)
        loss.backward()
        optimizer.step()
        running_loss += loss.item()
    print('[%d] loss: %.3f' % (epoch + 1, running_loss / len(trainloader)))

net.eval()
with torch.no_grad():
    correct = (net(x_test).argmax(1) == y_test).sum().item()
print('Accuracy of the network on the 50 test images: %d %%' % (100 * correct / 50))
