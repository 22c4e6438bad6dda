import torch
from torch import nn
import torch.nn.functional as F


class RMSNorm(nn.Module):
    def __init__(self, d, eps=1e-6):
        super().__init__()
        self.scale = nn.Parameter(torch.ones(d))
        self.eps = eps

    def forward(self, x):
        return self.scale * x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + self.eps)


def rotate(x, base=1000.0):
    *_, t, d = x.shape
    freq = base ** (-torch.arange(0, d, 2, device=x.device) / d)
    ang = torch.arange(t, device=x.device)[:, None] * freq
    x1, x2 = x[..., 0::2], x[..., 1::2]
    return torch.cat([x1 * ang.cos() - x2 * ang.sin(), x1 * ang.sin() + x2 * ang.cos()], dim=-1)


class Layer(nn.Module):
    def __init__(self, d, heads, drop):
        super().__init__()
        self.h, self.drop = heads, drop
        self.n1, self.n2 = RMSNorm(d), RMSNorm(d)
        self.wq, self.wkv = nn.Linear(d, d, bias=False), nn.Linear(d, 2 * d // heads, bias=False)
        self.wo = nn.Linear(d, d, bias=False)
        self.gate, self.up, self.down = nn.Linear(d, 2 * d), nn.Linear(d, 2 * d), nn.Linear(2 * d, d)

    def forward(self, x):
        b, t, d = x.shape
        y = self.n1(x)
        q = rotate(self.wq(y).view(b, t, self.h, -1).transpose(1, 2))
        k, v = self.wkv(y).chunk(2, -1)          # one key/value head shared by all query heads
        k = rotate(k[:, None]).expand(-1, self.h, -1, -1)
        v = v[:, None].expand(-1, self.h, -1, -1)
        a = F.scaled_dot_product_attention(q, k, v, is_causal=True, dropout_p=self.drop if self.training else 0.0)
        x = x + self.wo(a.transpose(1, 2).reshape(b, t, d))
        y = self.n2(x)
        return x + F.dropout(self.down(F.silu(self.gate(y)) * self.up(y)), self.drop, self.training)


class TinyLM(nn.Module):
    def __init__(self, vocab, d=48, heads=4, layers=2, drop=0.05):
        super().__init__()
        self.emb = nn.Embedding(vocab, d)
        self.layers = nn.ModuleList([Layer(d, heads, drop) for _ in range(layers)])
        self.norm = RMSNorm(d)
        nn.init.normal_(self.emb.weight, std=d ** -0.5)

    def forward(self, ids):
        x = self.emb(ids) * self.emb.embedding_dim ** 0.5
        for layer in self.layers:
            x = layer(x)
        return self.norm(x) @ self.emb.weight.t()
