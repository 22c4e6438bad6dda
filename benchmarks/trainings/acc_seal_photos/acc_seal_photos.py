"""Count seals on a beach as one of four classes from a small aerial picture, with accelerate."""

import torch
import torch.nn.functional as F
from accelerate import Accelerator
from accelerate.utils import set_seed
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


def beaches(n, side=20):
    """None to three seals: dark ovals on sand of varying brightness."""
    count = torch.randint(0, 4, (n,))
    yy, xx = torch.meshgrid(torch.arange(side), torch.arange(side), indexing="ij")
    picture = torch.zeros(n, side, side)
    for seal in range(3):
        cy, cx = (2 + (side - 4) * torch.rand(2, n, 1, 1)).unbind()
        oval = (((yy - cy) / 1.5) ** 2 + ((xx - cx) / 2.5) ** 2 < 1).float()
        picture = torch.maximum(picture, oval * (count > seal).view(-1, 1, 1))
    return (0.6 + 0.3 * torch.rand(n, 1, 1) - 0.5 * picture + 0.08 * torch.randn(n, side, side)).unsqueeze(1), count


class SealNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(1, 16, 5, padding=2)
        self.bn1 = nn.BatchNorm2d(16)
        self.conv2 = nn.Conv2d(16, 32, 3, padding=1)
        self.bn2 = nn.BatchNorm2d(32)
        self.drop = nn.Dropout(0.5)
        self.fc1 = nn.Linear(32 * 25, 64)
        self.fc2 = nn.Linear(64, 4)

    def forward(self, x):
        x = F.max_pool2d(F.relu(self.bn1(self.conv1(x))), 2)
        x = F.max_pool2d(F.relu(self.bn2(self.conv2(x))), 2)
        x = self.drop(x.flatten(1))
        return self.fc2(self.drop(F.relu(self.fc1(x))))


def main():
    set_seed(34)
    accelerator = Accelerator(cpu=True)
    train = DataLoader(TensorDataset(*beaches(1600)), batch_size=40, shuffle=True)
    val = DataLoader(TensorDataset(*beaches(400)), batch_size=10)
    model = SealNet()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=7)
    model, optimizer, train, val = accelerator.prepare(model, optimizer, train, val)

    for epoch in range(7):
        model.train()
        total = 0.0
        for picture, count in train:
            loss = F.cross_entropy(model(picture), count)
            optimizer.zero_grad()
            accelerator.backward(loss)
            optimizer.step()
            total += loss.item()
        schedule.step()

        right, seen = 0, 0
        with torch.no_grad():
            for picture, count in val:
                guess, count = accelerator.gather_for_metrics((model(picture).argmax(1), count))
                right += (guess == count).sum().item()
                seen += len(count)
        accelerator.print(f"epoch {epoch} loss {total / len(train):.3f} val accuracy {right / seen:.3f}")


if __name__ == "__main__":
    main()
