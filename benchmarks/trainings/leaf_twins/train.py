"""Leaf verification: do two scans show the same plant? Trained on some plants, tested on plants never seen before."""
import numpy as np
import torch
import torch.nn.functional as F
from sklearn.metrics import roc_auc_score

from model import TwinNet

SIDE = 12
TRAIN_PLANTS = 10
TEST_PLANTS = 150


def vein_patterns(n, gen):
    """Smooth random patterns, one per plant."""
    coarse = torch.randn(n, 1, 5, 5, generator=gen)
    return F.interpolate(coarse, size=(SIDE, SIDE), mode="bicubic", align_corners=True)


def scan(patterns):
    """A scan has its own exposure, a shadow gradient and sensor noise."""
    n = len(patterns)
    ramp = torch.linspace(-1, 1, SIDE)
    shadow = torch.randn(n, 1, 1, 1) * ramp[:, None] + torch.randn(n, 1, 1, 1) * ramp
    return patterns * (0.7 + 0.6 * torch.rand(n, 1, 1, 1)) + shadow + 0.5 * torch.randn_like(patterns)


def draw_pairs(patterns, n):
    same = torch.rand(n) < 0.5
    left = torch.randint(len(patterns), (n,))
    other = (left + torch.randint(1, len(patterns), (n,))) % len(patterns)
    right = torch.where(same, left, other)
    return scan(patterns[left]), scan(patterns[right]), same.float()


@torch.no_grad()
def verify(model, pairs):
    model.eval()
    left, right, same = pairs
    score = model(left, right)
    auc = roc_auc_score(same.numpy(), score.numpy())
    acc = ((score > 0) == same.bool()).float().mean().item()
    return auc, acc


def main():
    torch.manual_seed(6)
    gen = torch.Generator().manual_seed(60)
    known = vein_patterns(TRAIN_PLANTS, gen)
    unseen = vein_patterns(TEST_PLANTS, gen)
    test_pairs = draw_pairs(unseen, 1500)

    model = TwinNet(SIDE)
    print(f"parameters: {sum(p.numel() for p in model.parameters())}")
    optimizer = torch.optim.Adam(model.parameters(), lr=1.5e-3)
    for epoch in range(5):
        model.train()
        losses = []
        for _ in range(40):
            left, right, same = draw_pairs(known, 64)
            loss = F.binary_cross_entropy_with_logits(model(left, right), same)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
        auc, acc = verify(model, test_pairs)
        print(f"epoch {epoch + 1}  loss {np.mean(losses):.4f}  unseen plants: auc {auc:.3f} acc {acc:.3f}")


if __name__ == "__main__":
    main()
