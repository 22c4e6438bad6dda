"""Run with:  python -m harvest

The loss is a sum over members and rows of the batch (not a mean), so its value is large and the rate is small.
The rows of a season come one after another and seasons in order; each epoch goes through a new permutation.
"""
import torch

from harvest.fields import Table
from harvest.nets import Ensemble


def rmse(model, table, part):
    x, y = part
    with torch.no_grad():
        mean = model(x).mean(0)
    return ((mean - y).pow(2).mean().sqrt() * table.sy).item()


def main(epochs=40, batch=100, lr=1e-4):
    torch.manual_seed(5)
    table = Table()
    x, y = table.train
    model = Ensemble(x.shape[1])
    opt = torch.optim.SGD(model.parameters(), lr=lr, momentum=0.9)
    for epoch in range(1, epochs + 1):
        total = 0.0
        for rows in torch.randperm(len(x)).split(batch):
            loss = (model(x[rows]) - y[rows]).pow(2).sum()
            opt.zero_grad()
            loss.backward()
            opt.step()
            total += loss.item()
        if epoch % 8 == 0:
            print(f"epoch {epoch}: sum of squares {total:.1f}, train rmse {rmse(model, table, table.train):.3f} t/ha, "
                  f"last two seasons {rmse(model, table, table.test):.3f} t/ha")
    spread = (table.test[1] * table.sy).std().item()
    print(f"spread of the yields {spread:.3f} t/ha, noise 0.25")


if __name__ == "__main__":
    main()
