import torch
from torch.nn import CrossEntropyLoss, Linear, Module, ReLU, Softmax
from torch.optim import Adam
from torch.utils.data import DataLoader, TensorDataset


class IrisLike(Module):
    def __init__(self, n_features=4, n_classes=3):
        super().__init__()
        self.fc1 = Linear(n_features, 16)
        self.relu = ReLU()
        self.fc2 = Linear(16, n_classes)
        self.softmax = Softmax(dim=-1)

    def forward(self, x):
        out = self.fc1(x)
        out = self.relu(out)
        out = self.fc2(out)
        out = self.softmax(out)
        return out


def flowers():
    gen = torch.Generator().manual_seed(0)
    mean = torch.tensor([[5.0, 3.4, 1.5, 0.2], [5.9, 2.8, 4.3, 1.3], [6.6, 3.0, 5.6, 2.0]])
    label = torch.arange(150) // 50
    return mean[label] + 0.35 * torch.randn(150, 4, generator=gen), label


if __name__ == "__main__":
    torch.manual_seed(0)
    x, y = flowers()
    loader = DataLoader(TensorDataset(x, y), batch_size=10, shuffle=True)
    model, criterion = IrisLike(), CrossEntropyLoss()
    optimizer = Adam(model.parameters(), 0.002)
    for epoch in range(10):
        for features, label in loader:
            optimizer.zero_grad()
            loss = criterion(model(features), label)
            loss.backward()
            optimizer.step()
    right = (model(x).argmax(1) == y).sum().item()
    print(f"{right} of 150 right, accuracy {right / 150:.3f}")
