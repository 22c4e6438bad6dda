"""Two heads on one body for apples: sugar content (regression) and bruised or not (binary)."""
import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


def apples(n, seed):
    g = torch.Generator().manual_seed(seed)
    spec = torch.randn(n, 40, generator=g)
    mixer = torch.randn(40, 40, generator=torch.Generator().manual_seed(1)) / 40 ** 0.5
    latent = spec @ mixer
    sugar = torch.sin(2 * latent[:, 0]) + latent[:, 1] * latent[:, 2] + 0.1 * torch.randn(n, generator=g)
    bruise = (latent[:, 1] * latent[:, 3] + 0.7 * torch.cos(2 * latent[:, 4]) + 0.2 * torch.randn(n, generator=g) > 0.2).float()
    return spec, sugar, bruise


class Tower(nn.Module):
    def __init__(self, d_in, d_out):
        super().__init__()
        self.l1 = nn.Linear(d_in, 96)
        self.l2 = nn.Linear(96, d_out)

    def forward(self, x):
        return torch.relu(self.l2(torch.relu(self.l1(x))))


class AppleNet(nn.Module):
    def __init__(self, width=24):
        super().__init__()
        self.shared = Tower(40, width)
        self.private = Tower(40, width)
        self.sugar = nn.Linear(2 * width, 1)
        self.bruise = nn.Linear(2 * width, 1)

    def features(self, x):
        parts = [tower(x).detach().numpy() for tower in (self.shared, self.private)]
        return torch.from_numpy(np.concatenate(parts, axis=1))

    def forward(self, x):
        h = self.features(x)
        return self.sugar(h).squeeze(1), self.bruise(h).squeeze(1)


class Trainer:
    def __init__(self, model, lr):
        self.model = model
        self.opt = torch.optim.Adam(model.parameters(), lr=lr)
        self.mse, self.bce = nn.MSELoss(), nn.BCEWithLogitsLoss()

    def epoch(self, loader):
        self.model.train()
        s = 0.0
        for x, a, b in loader:
            pa, pb = self.model(x)
            loss = self.mse(pa, a) + self.bce(pb, b)
            self.opt.zero_grad()
            loss.backward()
            self.opt.step()
            s += loss.item()
        return s / len(loader)

    @torch.no_grad()
    def test(self, x, a, b):
        self.model.eval()
        pa, pb = self.model(x)
        r2 = 1 - ((pa - a) ** 2).mean() / a.var()
        return r2.item(), ((pb > 0).float() == b).float().mean().item()


def main():
    torch.manual_seed(10)
    tr, te = apples(4000, 5), apples(1000, 6)
    loader = DataLoader(TensorDataset(*tr), batch_size=64, shuffle=True)
    t = Trainer(AppleNet(), 2e-3)
    for e in range(1, 16):
        loss = t.epoch(loader)
        if e % 3 == 0:
            r2, acc = t.test(*te)
            print(f"epoch {e} loss {loss:.4f} sugar R2 {r2:.3f} bruise accuracy {acc:.3f}")


if __name__ == "__main__":
    main()
