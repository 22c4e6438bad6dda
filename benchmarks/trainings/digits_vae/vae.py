import argparse

import torch
from sklearn.datasets import load_digits
from sklearn.neighbors import KNeighborsClassifier
from torch import nn, optim
from torch.nn import functional as F


class VAE(nn.Module):
    def __init__(self, latent=8, hidden=200):
        super().__init__()
        self.fc1 = nn.Linear(64, hidden)
        self.fc21 = nn.Linear(hidden, latent)
        self.fc22 = nn.Linear(hidden, latent)
        self.fc3 = nn.Linear(latent, hidden)
        self.fc4 = nn.Linear(hidden, 64)

    def encode(self, x):
        h = F.relu(self.fc1(x))
        return self.fc21(h), self.fc22(h)

    def reparameterize(self, mu, logvar):
        if not self.training:
            return mu
        return mu + torch.exp(0.5 * logvar) * torch.randn_like(mu)

    def decode(self, z):
        return self.fc4(F.relu(self.fc3(z)))

    def forward(self, x):
        mu, logvar = self.encode(x)
        return self.decode(self.reparameterize(mu, logvar)), mu, logvar


def loss_function(logits, x, mu, logvar):
    bce = F.binary_cross_entropy_with_logits(logits, x)
    kld = -0.5 * torch.sum(1 + logvar - mu.pow(2) - logvar.exp(), dim=1).mean()
    return bce + kld, bce, kld


def load(seed):
    digits = load_digits()
    x = torch.tensor(digits.data, dtype=torch.float32) / 16.0
    y = torch.tensor(digits.target)
    perm = torch.randperm(len(y), generator=torch.Generator().manual_seed(seed))
    return x[perm[:1400]], y[perm[:1400]], x[perm[1400:]], y[perm[1400:]]


@torch.no_grad()
def evaluate(model, x_tr, y_tr, x_te, y_te):
    model.eval()
    logits, mu, logvar = model(x_te)
    mse = F.mse_loss(torch.sigmoid(logits), x_te).item()
    active = (mu.var(0) > 0.01).sum().item()
    knn = KNeighborsClassifier(5).fit(model.encode(x_tr)[0].numpy(), y_tr.numpy())
    return mse, active, knn.score(mu.numpy(), y_te.numpy())


def main():
    parser = argparse.ArgumentParser(description="VAE on 8x8 digits")
    parser.add_argument("--epochs", type=int, default=48)
    parser.add_argument("--batch-size", type=int, default=70)
    parser.add_argument("--lr", type=float, default=2e-3)
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()

    torch.manual_seed(args.seed)
    x_tr, y_tr, x_te, y_te = load(args.seed)
    model = VAE()
    optimizer = optim.Adam(model.parameters(), lr=args.lr)
    print(f"mean image: test mse {F.mse_loss(x_tr.mean(0).expand_as(x_te), x_te):.4f}")

    for epoch in range(1, args.epochs + 1):
        model.train()
        sums = torch.zeros(3)
        batches = x_tr[torch.randperm(len(x_tr))].split(args.batch_size)
        for batch in batches:
            optimizer.zero_grad()
            logits, mu, logvar = model(batch)
            losses = loss_function(logits, batch, mu, logvar)
            losses[0].backward()
            optimizer.step()
            sums += torch.stack(losses).detach()
        if epoch % 6 == 0:
            total, bce, kld = (sums / len(batches)).tolist()
            mse, active, knn = evaluate(model, x_tr, y_tr, x_te, y_te)
            print(f"Epoch {epoch:3d}: loss {total:.4f} (bce {bce:.4f}, kld {kld:.4f})  test mse {mse:.4f}  "
                  f"active units {active}  kNN accuracy in latent space {knn:.3f}")


if __name__ == "__main__":
    main()
