"""Half-precision training by hand: fp16 working copy, fp32 master weights, static loss scale, accumulation over micro-batches."""
import copy

import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(404)

ACCUM = 4
MICRO = 32
EPOCHS = 10
LR = 2e-3
LOSS_SCALE = 2.0 ** 23
N_CLASSES = 8


def make_codes(n, bits=48):
    """Noisy code words: each class is a random bit pattern, with bits flipped and rows cyclically shifted a little."""
    g = torch.Generator().manual_seed(9)
    words = (torch.rand(N_CLASSES, bits, generator=g) < 0.5).float() * 2 - 1
    y = torch.randint(0, N_CLASSES, (n,))
    x = words[y]
    flips = (torch.rand(n, bits) < 0.18).float()
    x = x * (1 - 2 * flips)
    shift = torch.randint(0, 3, (n,))
    x = torch.stack([torch.roll(r, int(s)) for r, s in zip(x, shift)])
    return x + 0.2 * torch.randn_like(x), y


x_train, y_train = make_codes(6400)
x_val, y_val = make_codes(1000)

master = nn.Sequential(
    nn.Linear(48, 128), nn.LayerNorm(128), nn.GELU(),
    nn.Linear(128, 128), nn.LayerNorm(128), nn.GELU(),
    nn.Linear(128, N_CLASSES),
)
worker = copy.deepcopy(master).half()
optimizer = torch.optim.AdamW(master.parameters(), lr=LR, weight_decay=0.01)
steps_total = EPOCHS * len(x_train) // (MICRO * ACCUM)
scheduler = torch.optim.lr_scheduler.LinearLR(optimizer, 1.0, 0.1, total_iters=steps_total)


@torch.no_grad()
def push_weights():
    for p, q in zip(master.parameters(), worker.parameters()):
        q.copy_(p)


@torch.no_grad()
def pull_grads():
    """Move the accumulated fp16 gradients to the master weights; False if a value is not finite."""
    ok = True
    for p, q in zip(master.parameters(), worker.parameters()):
        p.grad = q.grad.float() / LOSS_SCALE
        ok = ok and bool(torch.isfinite(p.grad).all())
        q.grad = None
    return ok


@torch.no_grad()
def validate():
    worker.eval()
    logits = worker(x_val.half()).float()
    worker.train()
    return F.cross_entropy(logits, y_val).item(), (logits.argmax(1) == y_val).float().mean().item()


def train_epoch():
    order = torch.randperm(len(x_train))
    seen, total = 0, 0.0
    for k, start in enumerate(range(0, len(order), MICRO)):
        idx = order[start:start + MICRO]
        logits = worker(x_train[idx].half()).float()
        loss = F.cross_entropy(logits, y_train[idx])
        (loss * (LOSS_SCALE / ACCUM)).backward()
        total += loss.item() * len(idx)
        seen += len(idx)
        if (k + 1) % ACCUM == 0:
            if pull_grads():
                nn.utils.clip_grad_norm_(master.parameters(), 1.0)
                optimizer.step()
                push_weights()
            scheduler.step()
            optimizer.zero_grad(set_to_none=True)
    return total / seen


for epoch in range(1, EPOCHS + 1):
    tr = train_epoch()
    vl, va = validate()
    print(f"epoch {epoch:2d}/{EPOCHS}  train_loss={tr:.4f}  val_loss={vl:.4f}  val_acc={va:.4f}")
