"""Learn addition digit by digit. Easy sums first; the decoder is fed the true previous digits while training."""
import random

import hydra
import torch
import torch.nn.functional as F
from omegaconf import DictConfig
from torch import nn

START = 10


def sums(n, digits, width, rng):
    """Digits of both numbers and of the result, least significant first, padded with zeros to one width."""
    a = [rng.randrange(10 ** digits) for _ in range(n)]
    b = [rng.randrange(10 ** digits) for _ in range(n)]
    rev = lambda v, w: [v // 10 ** k % 10 for k in range(w)]
    x = torch.tensor([[*zip(rev(p, width), rev(q, width))] for p, q in zip(a, b)])
    y = torch.tensor([rev(p + q, width) for p, q in zip(a, b)])
    return x, y


class Adder(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.dig, self.prev = nn.Embedding(10, d), nn.Embedding(11, d // 2)
        self.rnn = nn.GRU(2 * d + d // 2, d, batch_first=True)
        self.out = nn.Linear(d, 10)

    def forward(self, x, y_prev, state=None):
        h, state = self.rnn(torch.cat([self.dig(x).flatten(2), self.prev(y_prev)], -1), state)
        return self.out(h), state

    def teacher(self, x, y):
        y_prev = torch.cat([torch.full_like(y[:, :1], START), y[:, :-1]], 1)
        return self(x, y_prev)[0]

    @torch.no_grad()
    def solve(self, x):
        tok, state, out = torch.full((len(x), 1), START), None, []
        for k in range(x.size(1)):
            logits, state = self(x[:, k:k + 1], tok, state)
            tok = logits.argmax(-1)
            out.append(tok)
        return torch.cat(out, 1)


@hydra.main(version_base=None, config_path="conf", config_name="config")
def main(cfg: DictConfig):
    torch.manual_seed(cfg.seed)
    rng = random.Random(cfg.seed)
    width = max(cfg.digits) + 1
    net = Adder(cfg.model.dim)
    opt = torch.optim.Adam(net.parameters(), lr=cfg.optim.lr)
    x_test, y_test = sums(400, max(cfg.digits), width, random.Random(99))
    for digits, epochs in zip(cfg.digits, cfg.epochs_per_stage):
        x, y = sums(cfg.examples_per_stage, digits, width, rng)
        for _ in range(epochs):
            total = 0.0
            for xb, yb in zip(x.split(cfg.optim.batch_size), y.split(cfg.optim.batch_size)):
                loss = F.cross_entropy(net.teacher(xb, yb).transpose(1, 2), yb)
                opt.zero_grad()
                loss.backward()
                nn.utils.clip_grad_norm_(net.parameters(), 1.0)
                opt.step()
                total += loss.item() * len(xb)
        right = (net.solve(x_test) == y_test).all(1).float().mean().item()
        print(f"{digits}-digit stage: train loss {total / len(x):.4f}; whole 3-digit sums right {right:.3f}", flush=True)


if __name__ == "__main__":
    main()
