"""Digits from a small code (variational autoencoder)."""

import torch
from sklearn.datasets import load_digits
from torch import nn
from torch.nn import functional

CODE, BATCH_SIZE, EPOCHS = 6, 64, 6


class Autoencoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder = nn.Sequential(nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 2 * CODE))
        self.decoder = nn.Sequential(nn.Linear(CODE, 64), nn.ReLU(), nn.Linear(64, 64))

    def forward(self, images):
        mean, log_variance = self.encoder(images).chunk(2, 1)
        code = mean + (0.5 * log_variance).exp() * torch.randn_like(mean) * self.training
        return self.decoder(code), mean, log_variance


def elbo_loss(outputs, images, mean, log_variance):
    pixels = functional.binary_cross_entropy_with_logits(outputs, images, reduction="none")
    divergence = -0.5 * (1 + log_variance - mean**2 - log_variance.exp())
    return pixels.sum(1).mean() + divergence.sum(1).mean()


def main():
    torch.manual_seed(0)
    images = torch.tensor(load_digits().images, dtype=torch.float32).flatten(1) / 16
    order = torch.randperm(len(images), generator=torch.Generator().manual_seed(1))
    train, test = images[order[:1400]], images[order[1400:]]
    model = Autoencoder()
    optimizer = torch.optim.Adam(model.parameters(), lr=4e-3)
    for epoch in range(EPOCHS):
        model.train()
        for rows in torch.randperm(len(train)).split(BATCH_SIZE):
            outputs, mean, log_variance = model(train[rows])
            loss = elbo_loss(outputs, train[rows], mean, log_variance)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        model.eval()
        with torch.no_grad():
            error = functional.mse_loss(model(test)[0].sigmoid(), test).item()
        print(f"epoch {epoch} loss {loss.item():.3f} test mse {error:.5f}")


if __name__ == "__main__":
    main()
