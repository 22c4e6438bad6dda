"""Two models, two optimisers, one loop: points on a circle."""
import os

import torch
import torch.nn as nn

torch.manual_seed(int(os.environ.get("SEED", "3")))

latent_dim = 4
batch_size = 32
n_epochs = 3
lr_d = float(os.environ.get("LR_D", "0.002"))

generator = nn.Sequential(nn.Linear(latent_dim, 24), nn.ReLU(), nn.Linear(24, 2))
discriminator = nn.Sequential(nn.Linear(2, 30), nn.LeakyReLU(0.2), nn.Linear(30, 1))

opt_g = torch.optim.Adam(generator.parameters(), lr=0.001, betas=(0.5, 0.999))
opt_d = torch.optim.Adam(discriminator.parameters(), lr=lr_d, betas=(0.5, 0.999))
adversarial = nn.BCEWithLogitsLoss()

angle = 6.2832 * torch.rand(256, 1)
real_points = torch.cat([angle.cos(), angle.sin()], 1)
loader = torch.utils.data.DataLoader(real_points, batch_size=batch_size, shuffle=True)

for epoch in range(n_epochs):
    for real in loader:
        ones, zeros = torch.ones(len(real), 1), torch.zeros(len(real), 1)

        opt_d.zero_grad()
        fake = generator(torch.randn(len(real), latent_dim))
        loss_d = adversarial(discriminator(real), ones) + adversarial(discriminator(fake.detach()), zeros)
        loss_d.backward()
        opt_d.step()

        opt_g.zero_grad()
        loss_g = adversarial(discriminator(fake), ones)
        loss_g.backward()
        opt_g.step()
    print(f"epoch {epoch} d {loss_d.item():.4f} g {loss_g.item():.4f}")
