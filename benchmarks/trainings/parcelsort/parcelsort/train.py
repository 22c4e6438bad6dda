import torch
from torch.nn import functional as F

from parcelsort.modules import ParcelRouter
from parcelsort.parcels import parcels


def batches(x, y, size):
    for idx in torch.randperm(len(x)).split(size):
        yield x[idx], y[idx]


def score(model, x, y):
    model.eval()
    with torch.no_grad():
        out = model(x)
        return F.cross_entropy(out, y).item(), (out.argmax(1) == y).float().mean().item()


def train(epochs=25, lr=3e-3, size=64, seed=2):
    torch.manual_seed(seed)
    x, y = parcels(4000, 0)
    xv, yv = parcels(1000, 1)
    model = ParcelRouter(x.shape[1], 8)
    print(model)
    opt = torch.optim.Adam(model.parameters(), lr=lr)
    for epoch in range(1, epochs + 1):
        model.train()
        for xb, yb in batches(x, y, size):
            loss = F.cross_entropy(model(xb), yb)
            opt.zero_grad()
            loss.backward()
            opt.step()
        if epoch % 5 == 0:
            l, a = score(model, xv, yv)
            print(f"epoch {epoch} last loss {loss.item():.3f} val loss {l:.3f} val accuracy {a:.3f}")


if __name__ == "__main__":
    train()
