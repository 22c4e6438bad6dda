"""Match small scenes with their captions: two towers, symmetric loss, learned temperature."""
import argparse
import math

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from tqdm import tqdm

COL, SHP, POS = ["red", "green", "blue", "grey"], ["bar", "box", "dot"], ["top", "bottom", "left", "right"]
VOC = {w: i for i, w in enumerate(COL + SHP + POS)}
RGB = np.array([[1, .1, .1], [.1, 1, .1], [.1, .1, 1], [.6, .6, .6]])


def scene(r):
    c, s, p = r.integers(4), r.integers(3), r.integers(4)
    img = r.normal(0, 0.15, (3, 12, 12))
    cy, cx = [(2, 5), (8, 5), (5, 2), (5, 8)][p]
    h, w = [(1, 4), (3, 3), (1, 1)][s]
    cy, cx = cy + r.integers(-1, 2), cx + r.integers(-1, 2)
    img[:, max(0, cy - h // 2):cy + h // 2 + 1, max(0, cx - w // 2):cx + w // 2 + 1] += RGB[c][:, None, None]
    words = [VOC[COL[c]], VOC[SHP[s]], VOC[POS[p]]]
    r.shuffle(words)
    return img, words, c * 12 + s * 4 + p


def batch(n, r, distinct=False):
    rows, seen = [], set()
    while len(rows) < n:
        i, w, key = scene(r)
        if distinct and key in seen:
            continue
        seen.add(key)
        rows.append((i, w, key))
    im, wo, ke = zip(*rows)
    return torch.tensor(np.stack(im), dtype=torch.float32), torch.tensor(np.array(wo)), torch.tensor(ke)


class Towers(nn.Module):
    def __init__(self, d=32):
        super().__init__()
        self.image = nn.Sequential(nn.Conv2d(3, 24, 3, stride=2, padding=1), nn.ReLU(), nn.Conv2d(24, 32, 3, padding=1), nn.ReLU(),
                                   nn.Flatten(), nn.Linear(32 * 36, d))
        self.words = nn.EmbeddingBag(len(VOC), 48, mode="mean")
        self.text = nn.Sequential(nn.ReLU(), nn.Linear(48, d))
        self.log_scale = nn.Parameter(torch.tensor(math.log(10.0)))

    def forward(self, img, words):
        a, b = F.normalize(self.image(img), dim=-1), F.normalize(self.text(self.words(words)), dim=-1)
        return self.log_scale.clamp(max=math.log(100)).exp() * a @ b.T


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--steps", type=int, default=300)
    ap.add_argument("--bs", type=int, default=48)
    args = ap.parse_args()
    torch.manual_seed(0)
    r = np.random.default_rng(0)
    model = Towers()
    opt = torch.optim.AdamW(model.parameters(), lr=4e-3, weight_decay=0.01)
    test = [batch(48, np.random.default_rng(100 + k), distinct=True) for k in range(4)]

    def score():
        with torch.no_grad():
            return np.mean([(model(i, w).argmax(1) == torch.arange(48)).float().mean().item() for i, w, _ in test])

    print(f"step 0 retrieval among 48: {score():.3f}")
    for step in tqdm(range(1, args.steps + 1), mininterval=5):
        img, words, key = batch(args.bs, r)          # fresh scenes each time, nothing is seen twice
        logits = model(img, words)
        same = (key[:, None] == key[None, :]).float()
        goal = same / same.sum(1, keepdim=True)      # equal captions in a batch share the mass
        loss = 0.5 * (F.cross_entropy(logits, goal) + F.cross_entropy(logits.T, goal))
        opt.zero_grad()
        loss.backward()
        opt.step()
        if step % 75 == 0:
            tqdm.write(f"step {step} loss {loss.item():.3f} scale {model.log_scale.exp().item():.1f} retrieval {score():.3f}")


if __name__ == "__main__":
    main()
