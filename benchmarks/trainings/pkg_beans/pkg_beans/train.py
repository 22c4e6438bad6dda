import torch
from sklearn.metrics import balanced_accuracy_score
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

from pkg_beans.config import Config
from pkg_beans.data import prepare
from pkg_beans.model import BeanNet


def score(model, x, y):
    model.eval()
    with torch.no_grad():
        bad = model(torch.from_numpy(x)) > 0
    return balanced_accuracy_score(y, bad.numpy())


def main(cfg=Config()):
    torch.manual_seed(cfg.seed)
    (x, y), (x_val, y_val), (new_x, new_y) = prepare(cfg)
    loader = DataLoader(TensorDataset(torch.from_numpy(x), torch.from_numpy(y)), cfg.batch, shuffle=True)
    model = BeanNet(cfg.features, cfg.hidden)
    optimizer = torch.optim.Adam(model.parameters(), lr=cfg.lr)
    criterion = nn.BCEWithLogitsLoss()
    for epoch in range(1, cfg.epochs + 1):
        model.train()
        total = 0.0
        for xb, yb in loader:
            optimizer.zero_grad()
            loss = criterion(model(xb), yb)
            loss.backward()
            optimizer.step()
            total += loss.item()
        if epoch % 5 == 0:
            print(f"epoch {epoch} loss {total / len(loader):.4f} val balanced accuracy {score(model, x_val, y_val):.3f}")
    print(f"next harvest: balanced accuracy {score(model, new_x, new_y):.3f}")


if __name__ == "__main__":
    main()
