"""Self-supervised pretraining on unlabelled digits, then a linear probe on few labels."""
import numpy as np
import torch
from sklearn.datasets import load_digits
from torch import nn
from torch.nn import functional as F

torch.manual_seed(31)
np.random.seed(31)

data = load_digits()
images = torch.tensor(data.images, dtype=torch.float32)[:, None] / 8.0 - 1.0
labels = torch.tensor(data.target)
order = torch.randperm(len(labels))
pool, test = order[:1400], order[1400:]
few = pool[:150]                                  # the only labels that are used


class Encoder(nn.Module):
    def __init__(self, dim=96):
        super().__init__()
        self.conv = nn.Sequential(
            nn.Conv2d(1, 24, 3, padding=1), nn.BatchNorm2d(24), nn.ReLU(),
            nn.Conv2d(24, 48, 3, stride=2, padding=1), nn.BatchNorm2d(48), nn.ReLU(),
        )
        self.fc = nn.Linear(48 * 16, dim)

    def forward(self, x):
        return self.fc(self.conv(x).flatten(1))


class Decoder(nn.Module):
    def __init__(self, dim=96):
        super().__init__()
        self.net = nn.Sequential(nn.ReLU(), nn.Linear(dim, 128), nn.ReLU(), nn.Linear(128, 64))

    def forward(self, z):
        return self.net(z).view(-1, 1, 8, 8)


def hide_patches(x, share=0.4):
    keep = (torch.rand(len(x), 1, 4, 4) > share).float()
    keep = F.interpolate(keep, scale_factor=2, mode="nearest")
    return x * keep, keep


def pretrain(encoder, decoder, epochs=25):
    opt = torch.optim.AdamW([*encoder.parameters(), *decoder.parameters()], lr=2e-3)
    for epoch in range(epochs):
        encoder.train()
        total = 0.0
        for idx in pool[torch.randperm(len(pool))].split(100):
            x = images[idx]
            masked, keep = hide_patches(x)
            err = (decoder(encoder(masked)) - x) ** 2 * (1 - keep)
            loss = err.sum() / (1 - keep).sum()
            opt.zero_grad()
            loss.backward()
            opt.step()
            total += loss.item()
        if epoch % 5 == 4:
            print(f"pretrain {epoch + 1:2d}: error on hidden patches {total / 14:.4f} (variance {images.var():.4f})")


def probe(encoder, epochs=40):
    encoder.eval().requires_grad_(False)          # stays as pretrained, running statistics included
    head = nn.Sequential(nn.BatchNorm1d(96, affine=False), nn.Linear(96, 10))
    opt = torch.optim.SGD(head.parameters(), lr=0.3, momentum=0.9, weight_decay=1e-3)
    sched = torch.optim.lr_scheduler.CosineAnnealingLR(opt, epochs)
    for epoch in range(epochs):
        head.train()
        for idx in few[torch.randperm(len(few))].split(50):
            with torch.no_grad():
                z = encoder(images[idx])
            loss = F.cross_entropy(head(z), labels[idx])
            opt.zero_grad()
            loss.backward()
            opt.step()
        sched.step()
        if epoch % 8 == 7:
            head.eval()
            with torch.no_grad():
                acc = (head(encoder(images[test])).argmax(1) == labels[test]).float().mean()
            print(f"probe {epoch + 1:2d}: loss {loss.item():.4f}  test accuracy {acc:.4f}")


encoder, decoder = Encoder(), Decoder()
pretrain(encoder, decoder)
probe(encoder)
