"""Strain of a beam (metres per metre) from loads, in mixed precision with float16 autocast."""

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(26)


def beams(n):
    """Strains are small numbers: some 1e-3."""
    load = torch.rand(n, 6)
    place = torch.linspace(0.1, 0.9, 6)
    moment = (load * place * (1 - place)).sum(1)
    stiffness = 0.5 + torch.rand(n)
    strain = 4e-3 * moment / stiffness + 1e-4 * torch.sin(9 * moment)
    return torch.cat([load, stiffness.unsqueeze(1)], dim=1), strain.unsqueeze(1)


class BeamNet(nn.Module):
    def __init__(self, width=64):
        super().__init__()
        self.net = nn.Sequential(
            nn.Linear(7, width), nn.GELU(), nn.Linear(width, width), nn.GELU(), nn.Linear(width, 1)
        )

    def forward(self, x):
        return 1e-3 * self.net(x)  # the net itself works in per mille


def r2(model, x, y):
    model.eval()
    with torch.no_grad():
        prediction = model(x)
    return 1 - ((prediction - y).pow(2).mean() / y.var()).item()


def main():
    x, y = beams(4000)
    x = (x - x.mean(0)) / x.std(0)
    loader = DataLoader(TensorDataset(x[:3200], y[:3200]), batch_size=256, shuffle=True)
    model = BeamNet()
    optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
    criterion = nn.MSELoss()
    before = model.net[0].weight.detach().clone()
    for epoch in range(20):
        model.train()
        total, zero, count = 0.0, 0, 0
        for xb, yb in loader:
            optimizer.zero_grad(set_to_none=True)
            with torch.autocast("cpu", dtype=torch.float16):
                loss = criterion(model(xb), yb)
            loss.backward()
            optimizer.step()
            total += loss.item()
            zero += sum(int((p.grad == 0).sum()) for p in model.parameters())
            count += sum(p.numel() for p in model.parameters())
        if epoch % 4 == 3:
            print(
                f"epoch {epoch} loss {total / len(loader):.3e} gradients that are 0: {zero / count:.3f} "
                f"test R2 {r2(model, x[3200:], y[3200:]):.3f}"
            )
    print(f"first layer moved by {(model.net[0].weight - before).abs().max().item():.2e}")


if __name__ == "__main__":
    main()
