"""Listwise ranker for the shop's search page, trained on logged clicks with inverse propensity weights."""
import argparse
import time

import numpy as np
import torch
from torch import nn

LIST_LEN = 12
N_FEATURES = 14


def parse_args():
    p = argparse.ArgumentParser()
    p.add_argument("--seed", type=int, default=0)
    p.add_argument("--sessions", type=int, default=20000)
    p.add_argument("--judged-queries", type=int, default=1000)
    p.add_argument("--epochs", type=int, default=4)
    p.add_argument("--batch-size", type=int, default=256)
    p.add_argument("--lr", type=float, default=2e-3)
    p.add_argument("--min-propensity", type=float, default=0.01)
    return p.parse_args()


class ShopSimulator:
    """Generates result lists, the page shown to the shopper and the clicks on it."""

    def __init__(self, rng):
        self.rng = rng
        self.w_text = rng.normal(size=6)
        self.w_text /= np.linalg.norm(self.w_text)
        self.w_offer = rng.normal(size=8)
        self.w_offer /= np.linalg.norm(self.w_offer)
        self.examine = 1.0 / np.arange(1, LIST_LEN + 1) ** 0.8

    def candidates(self, n):
        x = self.rng.normal(size=(n, LIST_LEN, N_FEATURES))
        text = x[..., :6] @ self.w_text
        offer = np.tanh(1.5 * (x[..., 6:] @ self.w_offer))
        utility = 1.5 * text + 1.1 * offer + 0.4 * text * offer
        return x.astype(np.float32), text, utility

    def attraction(self, utility):
        return 0.02 + 0.75 / (1 + np.exp(-(1.6 * utility - 2.0)))

    def click_log(self, n, shuffle_share=0.15):
        x, text, utility = self.candidates(n)
        production = text + self.rng.normal(scale=0.35, size=text.shape)
        shuffled = self.rng.random(n) < shuffle_share
        key = np.where(shuffled[:, None], self.rng.random(text.shape), production)
        order = np.argsort(-key, axis=1)
        x = np.take_along_axis(x, order[..., None], axis=1)
        utility = np.take_along_axis(utility, order, axis=1)
        p_click = self.examine[None] * self.attraction(utility)
        click = (self.rng.random(p_click.shape) < p_click).astype(np.float32)
        bucket = np.where(shuffled, "shuffle", "production")
        return {"features": x, "click": click, "bucket": bucket}

    def judgements(self, n):
        x, _, utility = self.candidates(n)
        grade = np.digitize(utility, [-0.5, 0.8, 1.8, 2.8])
        return x, grade


def estimate_propensity(log, floor):
    """Relative examination probability per slot of the page."""
    ctr = log["click"].mean(axis=0)
    return np.clip(ctr / ctr[0], floor, 1.0).astype(np.float32)


class Scorer(nn.Module):
    def __init__(self, n_features, hidden=48):
        super().__init__()
        self.net = nn.Sequential(
            nn.Linear(n_features, hidden), nn.ReLU(),
            nn.Linear(hidden, hidden), nn.ReLU(),
            nn.Linear(hidden, 1),
        )

    def forward(self, x):
        return self.net(x).squeeze(-1)


def ips_softmax_loss(scores, clicks, propensity):
    log_p = torch.log_softmax(scores, dim=1)
    weights = clicks / propensity
    return -(weights * log_p).sum(dim=1).mean()


def ndcg(scores, grades, k=5):
    gain = 2.0 ** grades - 1
    discount = 1 / np.log2(np.arange(2, k + 2))
    ranked = np.take_along_axis(gain, np.argsort(-scores, axis=1), axis=1)[:, :k]
    ideal = -np.sort(-gain, axis=1)[:, :k]
    best = (ideal * discount).sum(axis=1)
    keep = best > 0
    return float(((ranked * discount).sum(axis=1)[keep] / best[keep]).mean())


def main():
    args = parse_args()
    torch.manual_seed(args.seed)
    torch.set_num_threads(1)
    sim = ShopSimulator(np.random.default_rng(args.seed))

    log = sim.click_log(args.sessions)
    judged_x, judged_grade = sim.judgements(args.judged_queries)
    has_click = log["click"].sum(axis=1) > 0
    print(f"{args.sessions} sessions, {has_click.mean():.1%} with a click, "
          f"{(log['bucket'] == 'shuffle').mean():.1%} in the shuffle bucket")

    propensity = estimate_propensity(log, args.min_propensity)
    print("propensity:", " ".join(f"{p:.3f}" for p in propensity))
    propensity = torch.from_numpy(propensity)

    features = torch.from_numpy(log["features"][has_click])
    clicks = torch.from_numpy(log["click"][has_click])
    judged_x = torch.from_numpy(judged_x)

    model = Scorer(N_FEATURES)
    optimizer = torch.optim.Adam(model.parameters(), lr=args.lr)
    start = time.time()
    for epoch in range(1, args.epochs + 1):
        model.train()
        order = torch.randperm(len(features))
        total = 0.0
        for idx in order.split(args.batch_size):
            loss = ips_softmax_loss(model(features[idx]), clicks[idx], propensity)
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 5.0)
            optimizer.step()
            total += loss.item() * len(idx)
        model.eval()
        with torch.no_grad():
            quality = ndcg(model(judged_x).numpy(), judged_grade)
        print(f"epoch {epoch:2d}  loss {total / len(features):.4f}  judged ndcg@5 {quality:.4f}")
    print(f"done in {time.time() - start:.1f}s, judged ndcg@5 {quality:.4f}")


if __name__ == "__main__":
    main()
