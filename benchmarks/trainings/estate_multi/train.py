import torch
from torch import nn
from torch.utils.data import DataLoader

from listings import CONDITIONS, Listings


class ListingModel(nn.Module):
    def __init__(self, n_in=9, width=96):
        super().__init__()
        self.shared = nn.Sequential(
            nn.Linear(n_in, width), nn.ReLU(),
            nn.Linear(width, width), nn.ReLU(),
        )
        self.price_head = nn.Sequential(nn.Linear(width, 32), nn.ReLU(), nn.Linear(32, 1))
        self.condition_head = nn.Sequential(nn.Linear(width, 32), nn.ReLU(), nn.Linear(32, len(CONDITIONS)))

    def forward(self, x):
        h = self.shared(x)
        return self.price_head(h).squeeze(-1), self.condition_head(h)


class Trainer:
    def __init__(self, model, train_set, val_set, lr=1e-3, batch_size=64):
        self.model = model
        self.train_loader = DataLoader(train_set, batch_size=batch_size, shuffle=True)
        self.val_set = val_set
        self.optimizer = torch.optim.Adam(model.parameters(), lr=lr)
        self.price_loss = nn.MSELoss()
        self.condition_loss = nn.CrossEntropyLoss()

    def train_epoch(self):
        self.model.train()
        sums = [0.0, 0.0]
        for x, price, condition in self.train_loader:
            pred_price, pred_condition = self.model(x)
            lp = self.price_loss(pred_price, price)
            lc = self.condition_loss(pred_condition, condition)
            loss = lp + lc
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()
            sums[0] += lp.item()
            sums[1] += lc.item()
        return [s / len(self.train_loader) for s in sums]

    @torch.no_grad()
    def validate(self):
        self.model.eval()
        price, condition = self.model(self.val_set.features)
        error = (price - self.val_set.price).abs() / self.val_set.price
        right = (condition.argmax(1) == self.val_set.condition).float().mean()
        return error.median().item(), right.item()


def main():
    torch.manual_seed(7)
    train_set = Listings(6000, 1)
    val_set = Listings(1500, 2, scale=train_set.scale)
    trainer = Trainer(ListingModel(), train_set, val_set)
    for epoch in range(1, 19):
        lp, lc = trainer.train_epoch()
        mape, acc = trainer.validate()
        print(f"epoch {epoch:2d}: price loss {lp:.4g}, condition loss {lc:.4f} | "
              f"median price error {mape:.1%}, condition accuracy {acc:.3f}", flush=True)


if __name__ == "__main__":
    main()
