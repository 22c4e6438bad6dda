import torch


def ndcg(score, grade, k=5):
    """Normalised discounted cumulative gain of the first k."""
    discount = 1 / torch.log2(torch.arange(2, k + 2).float())
    gain = 2**grade - 1
    got = gain.gather(1, score.argsort(1, descending=True))[:, :k] @ discount
    best = gain.sort(1, descending=True).values[:, :k] @ discount
    return (got / best.clamp(min=1e-9)).mean().item()
