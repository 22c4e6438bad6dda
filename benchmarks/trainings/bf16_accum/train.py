"""Multi-label tagging of spectra with bfloat16 autocast.

Micro-batches have different sizes, so the loss is summed and the accumulated gradient is
divided once by the number of labels seen since the last update.
"""
import numpy as np
import torch
import torch.nn.functional as F
from sklearn.metrics import average_precision_score

torch.manual_seed(2024)
gen = np.random.default_rng(2024)
BINS, TAGS = 80, 6
TEMPLATES = np.stack([
    sum(gen.uniform(0.4, 1) * np.exp(-((np.arange(BINS) - gen.uniform(5, 75)) ** 2) / 8) for _ in range(3))
    for _ in range(TAGS)
])


def spectra(n):
    tags = (gen.random((n, TAGS)) < 0.25).astype("float32")
    gain = gen.uniform(0.3, 1.0, size=(n, TAGS))
    x = (tags * gain) @ TEMPLATES + gen.normal(0, 0.12, size=(n, BINS)) + gen.uniform(0, 0.5, size=(n, 1))
    return torch.tensor(x, dtype=torch.float32), torch.tensor(tags)


def micro_batches(n):
    perm, at = torch.randperm(n), 0
    while at < n:
        size = int(gen.integers(8, 41))
        yield perm[at: at + size], at + size >= n
        at += size


class Mixer(torch.nn.Module):
    def __init__(self, width=96):
        super().__init__()
        self.inp = torch.nn.Linear(BINS, width)
        self.res = torch.nn.ModuleList(
            torch.nn.Sequential(torch.nn.LayerNorm(width), torch.nn.Linear(width, width), torch.nn.GELU(), torch.nn.Linear(width, width))
            for _ in range(2)
        )
        self.out = torch.nn.Linear(width, TAGS)
        self.out.bias.data.fill_(-1.1)     # prior log-odds of a tag

    def forward(self, x):
        h = self.inp(x)
        for r in self.res:
            h = h + r(h)
        return self.out(h)


def focal(logits, tags, gamma=1.0):
    bce = F.binary_cross_entropy_with_logits(logits, tags, reduction="none")
    p = torch.sigmoid(logits)
    miss = torch.where(tags > 0.5, 1 - p, p)
    return (miss ** gamma * bce).sum()


def main():
    x, t = spectra(3000)
    xv, tv = spectra(800)
    mu, sd = x.mean(0), x.std(0)
    x, xv = (x - mu) / sd, (xv - mu) / sd
    net = Mixer()
    opt = torch.optim.RAdam(net.parameters(), lr=2e-3, weight_decay=1e-4, decoupled_weight_decay=True)
    ACCUM, EPOCHS = 4, 10
    print(f"prevalence (= AP of a constant) {tv.mean():.3f}")
    for ep in range(EPOCHS):
        net.train()
        labels_seen = epoch_loss = 0.0
        for k, (idx, last) in enumerate(micro_batches(len(x)), start=1):
            with torch.autocast("cpu", dtype=torch.bfloat16):
                logits = net(x[idx])
            loss = focal(logits.float(), t[idx])
            loss.backward()
            labels_seen += t[idx].numel()
            epoch_loss += loss.item()
            if k % ACCUM == 0 or last:
                for p in net.parameters():
                    p.grad.div_(labels_seen)
                torch.nn.utils.clip_grad_norm_(net.parameters(), 0.5)
                opt.step()
                opt.zero_grad()
                labels_seen = 0.0
        net.eval()
        with torch.no_grad(), torch.autocast("cpu", dtype=torch.bfloat16):
            scores = net(xv).float().sigmoid().numpy()
        ap = average_precision_score(tv.numpy(), scores, average="macro")
        print(f"epoch {ep + 1:2d} focal {epoch_loss / t.numel():.4f} val mAP {ap:.4f} "
              f"val exact {((scores > 0.5) == tv.numpy()).all(1).mean():.3f}")


if __name__ == "__main__":
    main()
