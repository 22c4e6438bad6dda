"""python -m hashcodes.fit"""
import torch
from sklearn.datasets import load_digits
from torch.utils.data import DataLoader, TensorDataset

from .model import TiedHash


def data(seed):
    x, y = load_digits(return_X_y=True)
    x, y = torch.tensor(x / 16, dtype=torch.float32), torch.tensor(y)
    order = torch.randperm(len(x), generator=torch.Generator().manual_seed(seed))
    x, y = x[order], y[order]
    mean = x[:1300].mean(0)
    return (x[:1300] - mean, y[:1300]), (x[1300:] - mean, y[1300:])


@torch.no_grad()
def precision_at(model, base, query, k=10):
    a, b = model.code(query[0]), model.code(base[0])
    near = (a @ b.T).topk(k, dim=1).indices
    return (base[1][near] == query[1][:, None]).float().mean().item()


def main():
    torch.manual_seed(88)
    train, test = data(88)
    loader = DataLoader(TensorDataset(train[0]), batch_size=26, shuffle=True)
    model = TiedHash(64, bits=32)
    opt = torch.optim.Adam(model.parameters(), lr=1.5e-3)
    sched = torch.optim.lr_scheduler.MultiStepLR(opt, [45, 60], gamma=0.3)
    base = test[0].square().mean().item()
    for epoch in range(1, 71):
        model.train()
        total = 0.0
        for (x,) in loader:
            loss = torch.nn.functional.mse_loss(model(x), x)
            opt.zero_grad()
            loss.backward()
            opt.step()
            total += loss.item()
        sched.step()
        if epoch % 10 == 0:
            model.eval()
            with torch.no_grad():
                err = torch.nn.functional.mse_loss(model(test[0]), test[0]).item()
            print(f"epoch {epoch} mse {total / len(loader):.4f} test mse {err:.4f} (mean image {base:.4f}) "
                  f"precision@10 {precision_at(model, train, test):.3f}", flush=True)


if __name__ == "__main__":
    main()
