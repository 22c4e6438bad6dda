"""Metric learning on noisy 'fingerprints': batch-hard triplets on Euclidean distances."""
import torch
import torch.nn as nn
import torch.nn.functional as F

N_IDS = 40
IDS_PER_BATCH = 10
VIEWS = 4
DIM = 32


def build_world(seed):
    g = torch.Generator().manual_seed(seed)
    prototypes = torch.randn(N_IDS, 6, generator=g)
    mixing = torch.randn(6 + 10, DIM, generator=g) / 4.0
    return prototypes, mixing


def sample_views(prototypes, mixing, ids):
    clean = prototypes[ids] + 0.15 * torch.randn(len(ids), prototypes.shape[1])
    nuisance = 0.6 * torch.randn(len(ids), 10)
    return torch.tanh(torch.cat([clean, nuisance], dim=1) @ mixing)


def pairwise_distances(z):
    sq = z.pow(2).sum(dim=1)
    d2 = sq[:, None] + sq[None, :] - 2.0 * z @ z.t()
    return torch.sqrt(d2.clamp(min=0.0))


class Embedder(nn.Module):
    def __init__(self, out=8):
        super().__init__()
        self.layers = nn.Sequential(
            nn.Linear(DIM, 128), nn.ReLU(),
            nn.Linear(128, 128), nn.ReLU(),
            nn.Linear(128, out),
        )

    def forward(self, x):
        return F.normalize(self.layers(x), dim=1)


def batch_hard_loss(z, ids, margin=0.4):
    dist = pairwise_distances(z)
    same = ids[:, None] == ids[None, :]
    hardest_positive = (dist * same).max(dim=1).values
    hardest_negative = (dist + 10.0 * same).min(dim=1).values
    return F.softplus((hardest_positive - hardest_negative + margin) * 4.0).mean()


@torch.no_grad()
def recall_at_1(model, prototypes, mixing):
    ids = torch.arange(N_IDS).repeat_interleave(5)
    z = model(sample_views(prototypes, mixing, ids))
    dist = pairwise_distances(z)
    dist.fill_diagonal_(float("inf"))
    return (ids[dist.argmin(dim=1)] == ids).float().mean().item()


def main():
    torch.manual_seed(13)
    prototypes, mixing = build_world(1)
    model = Embedder()
    opt = torch.optim.Adam(model.parameters(), lr=1e-3)
    print(f"recall@1 before training {recall_at_1(model, prototypes, mixing):.3f}")
    for epoch in range(8):
        total = 0.0
        for _ in range(120):
            chosen = torch.randperm(N_IDS)[:IDS_PER_BATCH]
            ids = chosen.repeat_interleave(VIEWS)
            loss = batch_hard_loss(model(sample_views(prototypes, mixing, ids)), ids)
            opt.zero_grad()
            loss.backward()
            opt.step()
            total += loss.item()
        print(f"epoch {epoch + 1} loss {total / 120:.4f} recall@1 {recall_at_1(model, prototypes, mixing):.3f}")


if __name__ == "__main__":
    main()
