# decoder-only transformer that learns "a+b=c (mod 23)" written as five tokens.
# Only the answer token carries loss; weights of input and output embedding are shared;
# warm-up and cosine are counted in optimisation steps, as the paper's appendix does it.
import math, time
import torch
from torch import nn
from torch.nn import functional as F

P = 23
PLUS, EQ = P, P + 1
VOCAB = P + 2
torch.manual_seed(1337)


class Layer(nn.Module):
    def __init__(self, d, h):
        super().__init__()
        self.h = h
        self.norm_a, self.norm_f = nn.RMSNorm(d), nn.RMSNorm(d)
        self.wqkv = nn.Linear(d, 3 * d, bias=False)
        self.wo = nn.Linear(d, d, bias=False)
        self.up, self.down = nn.Linear(d, 4 * d), nn.Linear(4 * d, d)
        nn.init.zeros_(self.wo.weight)
        nn.init.zeros_(self.down.weight)

    def forward(self, x):
        b, t, d = x.shape
        q, k, v = self.wqkv(self.norm_a(x)).view(b, t, 3, self.h, d // self.h).permute(2, 0, 3, 1, 4)
        a = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.wo(a.transpose(1, 2).reshape(b, t, d))
        return x + self.down(F.relu(self.up(self.norm_f(x))).square())


class LM(nn.Module):
    def __init__(self, d=64, h=4, depth=2):
        super().__init__()
        self.emb = nn.Embedding(VOCAB, d)
        self.pos = nn.Parameter(torch.randn(4, d) * 0.02)
        self.layers = nn.ModuleList([Layer(d, h) for _ in range(depth)])
        self.norm = nn.RMSNorm(d)
        self.unemb = nn.Linear(d, VOCAB, bias=False)
        nn.init.normal_(self.emb.weight, std=0.1)
        self.unemb.weight = self.emb.weight

    def forward(self, ids):
        x = self.emb(ids) + self.pos
        for l in self.layers:
            x = l(x)
        return self.unemb(self.norm(x))


pairs = torch.cartesian_prod(torch.arange(P), torch.arange(P))
pairs = pairs[torch.randperm(len(pairs))]
ids = torch.stack([pairs[:, 0], torch.full((len(pairs),), PLUS), pairs[:, 1], torch.full((len(pairs),), EQ)], 1)
answer = pairs.sum(1) % P
cut = int(0.75 * len(ids))

model = LM()
decay = [p for p in model.parameters() if p.ndim >= 2]
plain = [p for p in model.parameters() if p.ndim < 2]
# strong decay on purpose: this task generalises only with it
opt = torch.optim.AdamW([{"params": decay, "weight_decay": 1.0}, {"params": plain, "weight_decay": 0.0}],
                        lr=4e-3, betas=(0.9, 0.98))
STEPS, WARM = 450, 20


def lr_factor(s):
    if s < WARM:
        return (s + 1) / WARM
    return 0.05 + 0.95 * 0.5 * (1 + math.cos(math.pi * (s - WARM) / (STEPS - WARM)))


sched = torch.optim.lr_scheduler.LambdaLR(opt, lr_factor)
t0 = time.time()
for step in range(STEPS):
    pick = torch.randint(cut, (256,))
    logits = model(ids[pick])[:, -1]
    loss = F.cross_entropy(logits, answer[pick])
    opt.zero_grad()
    loss.backward()
    opt.step()
    sched.step()
    if step % 90 == 89:
        with torch.no_grad():
            acc = (model(ids[cut:])[:, -1].argmax(-1) == answer[cut:]).float().mean().item()
        print(f"{step + 1:5d} steps  loss {loss.item():.4f}  unseen sums right {acc:.3f}  ({time.time() - t0:.0f}s)")
print(f"guessing would give {1 / P:.3f}")
