"""Everything lives in objects: the trainer holds the rates and the loop."""
import torch
from torch import nn


class Autoencoder(nn.Module):
    def __init__(self, n_inputs=20, bottleneck=4):
        super().__init__()
        from collections import OrderedDict

        self.encoder = nn.Sequential(
            OrderedDict([
                ("squeeze", nn.Linear(n_inputs, 10)),
                ("bend", nn.SELU()),
                ("code", nn.Linear(10, bottleneck)),
            ])
        )
        self.decoder = nn.Sequential(OrderedDict(
            unfold=nn.Linear(bottleneck, 10),
            bend=nn.SELU(),
            restore=Scaled(10, n_inputs),
        ))

    def forward(self, x):
        return self.decoder(self.encoder(x))


class Scaled(nn.Module):
    """A linear map with a learned scale, made by hand."""

    def __init__(self, n_in, n_out):
        super().__init__()
        self.weight = nn.Parameter(torch.empty(n_out, n_in))
        self.scale = nn.Parameter(torch.ones(n_out))
        nn.init.kaiming_normal_(self.weight, nonlinearity="linear")

    def forward(self, x):
        return nn.functional.linear(x, self.weight) * self.scale


class Trainer:
    batch_size = 25

    def __init__(self, model, lr=1e-3, n_epochs=10):
        self.model = model
        self.lr = lr
        self.n_epochs = n_epochs
        self.loss = nn.MSELoss()
        self.optimizer = self.make_optimizer()

    def make_optimizer(self):
        return torch.optim.Adam(self.model.parameters(), lr=self.lr)

    def batches(self, x):
        for index in torch.utils.data.BatchSampler(
            torch.utils.data.RandomSampler(range(len(x))), batch_size=self.batch_size, drop_last=False
        ):
            yield x[index]

    def step(self, batch):
        self.optimizer.zero_grad()
        loss = self.loss(self.model(batch), batch)
        loss.backward()
        self.optimizer.step()
        return loss.item()

    def fit(self, x):
        for epoch in range(self.n_epochs):
            losses = [self.step(batch) for batch in self.batches(x)]
            print(f"epoch {epoch} reconstruction {sum(losses) / len(losses):.5f}")


if __name__ == "__main__":
    torch.manual_seed(55)
    basis = torch.randn(4, 20)
    x = torch.randn(200, 4) @ basis / 4
    Trainer(Autoencoder(), lr=0.008, n_epochs=5).fit(x)
