"""Linear probe on top of an encoder restored from a checkpoint."""

import tempfile
from pathlib import Path

import torch
import torch.nn as nn
import torch.nn.functional as F
from sklearn.datasets import load_digits
from torch.utils.data import DataLoader, TensorDataset


class Encoder(nn.Module):
    def __init__(self, width=12, dim=6):
        super().__init__()
        self.conv1 = nn.Conv2d(1, width, 3, stride=2, padding=1)
        self.conv2 = nn.Conv2d(width, width, 3, stride=2, padding=1)
        self.fc = nn.Linear(width * 4, dim)

    def forward(self, x):
        x = F.relu(self.conv1(x))
        x = F.relu(self.conv2(x))
        return self.fc(x.flatten(1))


class Probe(nn.Module):
    def __init__(self, encoder, classes=10):
        super().__init__()
        self.encoder = encoder
        self.classifier = nn.Linear(6, classes)

    def forward(self, x):
        return self.classifier(torch.tanh(self.encoder(x)))


def get_data():
    digits = load_digits()
    x = torch.tensor(digits.images, dtype=torch.float32).unsqueeze(1) / 16.0 - 0.5
    y = torch.tensor(digits.target)
    order = torch.randperm(len(y), generator=torch.Generator().manual_seed(1))
    x, y = x[order], y[order]
    return TensorDataset(x[:1000], y[:1000]), TensorDataset(x[1000:1400], y[1000:1400]), TensorDataset(x[1400:], y[1400:])


def train(model, dataset, epochs, lr, name):
    params = [p for p in model.parameters() if p.requires_grad]
    optimizer = torch.optim.AdamW(params, lr=lr)
    loader = DataLoader(dataset, batch_size=32, shuffle=True)
    for epoch in range(epochs):
        model.train()
        running = 0.0
        for x, y in loader:
            loss = F.cross_entropy(model(x), y)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            running += loss.item()
        if (epoch + 1) % 4 == 0:
            print(f"{name} epoch {epoch + 1} loss {running / len(loader):.4f}")


@torch.no_grad()
def accuracy(model, dataset):
    model.eval()
    x, y = dataset.tensors
    return (model(x).argmax(1) == y).float().mean().item()


def save_checkpoint(model, path):
    wrapped = nn.DataParallel(model.encoder)
    torch.save({"state_dict": wrapped.state_dict(), "arch": "encoder-small"}, path)


def load_encoder(path):
    encoder = Encoder()
    checkpoint = torch.load(path)
    encoder.load_state_dict(checkpoint["state_dict"], strict=False)
    for p in encoder.parameters():
        p.requires_grad = False
    return encoder


def main():
    torch.manual_seed(19)
    pretrain_set, probe_set, test_set = get_data()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "encoder.pt"
        source = Probe(Encoder())
        train(source, pretrain_set, epochs=16, lr=5e-3, name="pretrain")
        print(f"source model test accuracy {accuracy(source, test_set):.3f}")
        save_checkpoint(source, path)

        probe = Probe(load_encoder(path))
        train(probe, probe_set, epochs=40, lr=1e-2, name="probe")
    print(f"probe test accuracy {accuracy(probe, test_set):.3f}")


if __name__ == "__main__":
    main()
