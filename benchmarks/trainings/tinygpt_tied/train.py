"""Language model over a toy grammar: weight-tied head, z-loss, label smoothing, EMA weights for evaluation."""
import copy
import itertools
import math
import random

import torch
import torch.nn.functional as F

from model import TinyLM

SEED = 7
random.seed(SEED)
torch.manual_seed(SEED)

NAMES = ["anna", "bert", "cleo", "dirk"]
THINGS = ["apple", "brick", "candle", "drum", "egg"]
VERBS = {"gives": "got", "sells": "bought", "lends": "borrowed"}
WORDS = sorted({*NAMES, *THINGS, *VERBS, *VERBS.values(), "to", "then", "from", "a", "."})
ID = {w: i for i, w in enumerate(WORDS)}


def sentence(rng):
    s, r = rng.sample(NAMES, 2)
    v, o = rng.choice(list(VERBS)), rng.choice(THINGS)
    return f"{s} {v} a {o} to {r} then {r} {VERBS[v]} a {o} from {s} .".split()


def corpus(n, seed):
    rng = random.Random(seed)
    return torch.tensor([ID[w] for _ in range(n) for w in sentence(rng)])


TRAIN, VALID = corpus(4000, 1), corpus(400, 2)
T = 45


def batches(stream, bs):
    while True:
        at = torch.randint(0, len(stream) - T - 1, (bs,))
        chunk = stream[at[:, None] + torch.arange(T + 1)]
        yield chunk[:, :-1], chunk[:, 1:]


class Ema:
    def __init__(self, model, decay):
        self.model, self.decay, self.n = copy.deepcopy(model).eval().requires_grad_(False), decay, 0

    @torch.no_grad()
    def update(self, live):
        self.n += 1
        d = min(self.decay, (1 + self.n) / (10 + self.n))
        for e, p in zip(self.model.parameters(), live.parameters()):
            e.lerp_(p, 1 - d)


@torch.no_grad()
def evaluate(lm):
    n = (len(VALID) - 1) // T
    x, y = VALID[: n * T].view(n, T), VALID[1: n * T + 1].view(n, T)
    logits = lm(x)
    nll = F.cross_entropy(logits.flatten(0, 1), y.flatten())
    return nll.item(), (logits.argmax(-1) == y).float().mean().item()


def lr_at(step, total, peak):
    if step < 40:
        return peak * (step + 1) / 40
    if step < 0.7 * total:
        return peak
    return peak * (1 - math.sqrt((step - 0.7 * total) / (0.3 * total)))


def main(total=350, peak=1e-2):
    lm = TinyLM(len(WORDS))
    ema = Ema(lm, 0.98)
    decay = [p for p in lm.parameters() if p.ndim > 1]
    rest = [p for p in lm.parameters() if p.ndim <= 1]
    opt = torch.optim.AdamW([{"params": decay, "weight_decay": 0.1}, {"params": rest, "weight_decay": 0.0}], betas=(0.9, 0.98))
    unigram = torch.bincount(TRAIN, minlength=len(WORDS)).float()
    unigram = -(torch.bincount(VALID, minlength=len(WORDS)).float() / len(VALID) * (unigram / unigram.sum()).log()).sum()
    print(f"unigram baseline nll {unigram:.3f}")
    for step, (x, y) in enumerate(itertools.islice(batches(TRAIN, 32), total)):
        for group in opt.param_groups:
            group["lr"] = lr_at(step, total, peak)
        logits = lm(x).flatten(0, 1)
        loss = F.cross_entropy(logits, y.flatten(), label_smoothing=0.05)
        loss = loss + 1e-4 * logits.logsumexp(-1).pow(2).mean()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(lm.parameters(), 1.0)
        opt.step()
        opt.zero_grad()
        ema.update(lm)
        if step % 50 == 49:
            nll, acc = evaluate(ema.model)
            print(f"{step + 1:5d} train(smoothed) {loss.item():.3f}  ema valid nll {nll:.3f}  next-word acc {acc:.3f}")


if __name__ == "__main__":
    main()
