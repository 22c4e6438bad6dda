"""Contrastive pre-training on simulated spectra, then a linear probe on the frozen encoder."""
import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(6)

CHANNELS, CLASSES = 96, 6
PEAKS = torch.randint(8, CHANNELS - 8, (CLASSES, 5))
HEIGHTS = torch.rand(CLASSES, 5) + 0.5


def spectra(n):
    y = torch.randint(0, CLASSES, (n,))
    grid = torch.arange(CHANNELS).float()
    centre = PEAKS[y].float() + torch.randn(n, 5)
    clean = (HEIGHTS[y].unsqueeze(-1) * torch.exp(-((grid - centre.unsqueeze(-1)) ** 2) / 8)).sum(1)
    return clean, y


def corrupt(x):
    """Random gain, sloped baseline, noise, and a masked band."""
    n = len(x)
    ramp = torch.linspace(-1, 1, CHANNELS)
    x = x * (0.6 + 0.8 * torch.rand(n, 1)) + 1.5 * torch.randn(n, 1) * ramp + torch.randn(n, 1)
    x = x + 0.2 * torch.randn_like(x)
    start = torch.randint(0, CHANNELS - 12, (n, 1))
    pos = torch.arange(CHANNELS)
    return x.masked_fill((pos >= start) & (pos < start + 12), 0.0)


encoder = nn.Sequential(
    nn.Unflatten(1, (1, CHANNELS)),
    nn.Conv1d(1, 16, 9, stride=2, padding=4), nn.BatchNorm1d(16), nn.ReLU(),
    nn.Conv1d(16, 32, 5, stride=2, padding=2), nn.BatchNorm1d(32), nn.ReLU(),
    nn.Flatten(), nn.Linear(32 * 24, 64),
)
projector = nn.Sequential(nn.ReLU(), nn.Linear(64, 32))


def nt_xent(a, b, tau=0.2):
    """Every other row of the batch is a negative, so the similarity runs across the batch."""
    z = F.normalize(torch.cat([a, b]), dim=1)
    sim = z @ z.T / tau
    sim.fill_diagonal_(float("-inf"))
    n = len(a)
    partner = torch.cat([torch.arange(n) + n, torch.arange(n)])
    return F.cross_entropy(sim, partner)


x_train, y_train = spectra(2000)
x_test, y_test = spectra(600)
x_test = corrupt(x_test)


def probe(epochs=60):
    encoder.eval()
    for p in encoder.parameters():
        p.requires_grad_(False)
    few = 120
    with torch.no_grad():
        h_train, h_test = encoder(corrupt(x_train[:few])), encoder(x_test)
    head = nn.Linear(64, CLASSES)
    opt = torch.optim.Adam(head.parameters(), lr=1e-2)
    for _ in range(epochs):
        opt.zero_grad()
        F.cross_entropy(head(h_train), y_train[:few]).backward()
        opt.step()
    for p in encoder.parameters():
        p.requires_grad_(True)
    with torch.no_grad():
        return (head(h_test).argmax(1) == y_test).float().mean().item()


print(f"probe on the untrained encoder: {probe():.3f}")
optimizer = torch.optim.AdamW([*encoder.parameters(), *projector.parameters()], lr=2e-3, weight_decay=1e-4)
for epoch in range(1, 13):
    encoder.train()
    total, batches = 0.0, 0
    for idx in torch.randperm(len(x_train)).split(125):
        loss = nt_xent(projector(encoder(corrupt(x_train[idx]))), projector(encoder(corrupt(x_train[idx]))))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total += loss.item()
        batches += 1
    if epoch % 3 == 0:
        print(f"epoch {epoch:2d}  nt-xent {total / batches:.4f}  probe accuracy {probe():.3f}")
