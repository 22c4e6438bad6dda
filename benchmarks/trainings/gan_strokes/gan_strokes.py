"""Hinge GAN with spectral norm for 8x8 digits; the generator's loss rises and falls, samples are judged by a classifier."""
import torch
import torch.nn.functional as F
from sklearn.datasets import load_digits
from sklearn.linear_model import LogisticRegression
from torch import nn
from torch.nn.utils.parametrizations import spectral_norm
from torch.utils.data import DataLoader, TensorDataset


class Generator(nn.Module):
    def __init__(self, z_dim, n_classes):
        super().__init__()
        self.label = nn.Embedding(n_classes, 16)
        self.net = nn.Sequential(
            nn.Linear(z_dim + 16, 128), nn.BatchNorm1d(128), nn.ReLU(),
            nn.Linear(128, 128), nn.BatchNorm1d(128), nn.ReLU(),
            nn.Linear(128, 64), nn.Tanh(),
        )

    def forward(self, z, y):
        return self.net(torch.cat([z, self.label(y)], dim=1))


class Discriminator(nn.Module):
    """Projection discriminator."""

    def __init__(self, n_classes):
        super().__init__()
        self.body = nn.Sequential(
            spectral_norm(nn.Linear(64, 128)), nn.LeakyReLU(0.2), spectral_norm(nn.Linear(128, 128)), nn.LeakyReLU(0.2)
        )
        self.score = spectral_norm(nn.Linear(128, 1))
        self.label = spectral_norm(nn.Embedding(n_classes, 128))

    def forward(self, x, y):
        h = self.body(x)
        return self.score(h).squeeze(1) + (self.label(y) * h).sum(1)


class Ema:
    def __init__(self, net, decay=0.995):
        self.decay = decay
        self.weights = {k: v.clone() for k, v in net.state_dict().items()}

    @torch.no_grad()
    def update(self, net):
        for k, v in net.state_dict().items():
            if v.is_floating_point():
                self.weights[k].lerp_(v, 1 - self.decay)
            else:
                self.weights[k].copy_(v)


def d_loss(real_score, fake_score):
    return F.relu(1 - real_score).mean() + F.relu(1 + fake_score).mean()


@torch.no_grad()
def judged(weights, judge, z_dim):
    generator = Generator(z_dim, 10)
    generator.load_state_dict(weights)
    generator.eval()
    y = torch.arange(10).repeat(50)
    images = generator(torch.randn(len(y), z_dim), y)
    agreement = (torch.tensor(judge.predict(images.numpy())) == y).float().mean().item()
    return agreement, images.view(10, 50, 64).std(1).mean().item()


def main(epochs=15, z_dim=32, seed=0):
    torch.manual_seed(seed)
    x, y = load_digits(return_X_y=True)
    x = torch.tensor(x / 8.0 - 1.0, dtype=torch.float32)
    judge = LogisticRegression(max_iter=500).fit(x.numpy(), y)
    loader = DataLoader(TensorDataset(x, torch.tensor(y)), batch_size=64, shuffle=True, drop_last=True)
    generator, discriminator = Generator(z_dim, 10), Discriminator(10)
    opt_g = torch.optim.Adam(generator.parameters(), lr=1e-3, betas=(0.0, 0.99))
    opt_d = torch.optim.Adam(discriminator.parameters(), lr=2e-3, betas=(0.0, 0.99))
    ema = Ema(generator)
    for epoch in range(1, epochs + 1):
        for real, label in loader:
            fake = generator(torch.randn(len(real), z_dim), label)
            loss_d = d_loss(discriminator(real, label), discriminator(fake.detach(), label))
            opt_d.zero_grad()
            loss_d.backward()
            opt_d.step()

            discriminator.requires_grad_(False)
            loss_g = -discriminator(fake, label).mean()
            opt_g.zero_grad()
            loss_g.backward()
            opt_g.step()
            discriminator.requires_grad_(True)
            ema.update(generator)
        if epoch % 5 == 0:
            agreement, spread = judged(ema.weights, judge, z_dim)
            print(f"epoch {epoch} D {loss_d.item():.3f} G {loss_g.item():.3f} recognised {agreement:.2f} spread {spread:.3f}")
    real_spread = torch.stack([x[y == k].std(0).mean() for k in range(10)]).mean().item()
    print(f"spread of the real digits {real_spread:.3f}")


if __name__ == "__main__":
    main()
