import torch
import torch.nn.functional as F
from torch import nn


class Layer(nn.Module):
    def __init__(self, dim, heads):
        super().__init__()
        self.heads = heads
        self.ln1, self.ln2 = nn.LayerNorm(dim), nn.LayerNorm(dim)
        self.qkv = nn.Linear(dim, 3 * dim)
        self.proj = nn.Linear(dim, dim)
        self.ff = nn.Sequential(nn.Linear(dim, 2 * dim), nn.ReLU(), nn.Linear(2 * dim, dim))

    def forward(self, x):
        b, t, d = x.shape
        q, k, v = self.qkv(self.ln1(x)).view(b, t, 3, self.heads, -1).permute(2, 0, 3, 1, 4)
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.proj(y.transpose(1, 2).reshape(b, t, d))
        return x + self.ff(self.ln2(x))


class EchoLM(nn.Module):
    """Decoder-only model whose output layer shares its matrix with the word embedding."""

    def __init__(self, vocab, length, dim=64, heads=2, layers=1):
        super().__init__()
        self.words = nn.Embedding(vocab, dim)
        self.places = nn.Embedding(length, dim)
        self.layers = nn.ModuleList(Layer(dim, heads) for _ in range(layers))
        self.norm = nn.LayerNorm(dim)
        self.logits = nn.Linear(dim, vocab, bias=False)
        self.logits.weight = self.words.weight
        self.apply(self.reset)

    @staticmethod
    def reset(module):
        if isinstance(module, (nn.Linear, nn.Embedding)):
            module.weight = nn.Parameter(torch.randn(module.weight.shape) * 0.08)
        if isinstance(module, nn.Linear) and module.bias is not None:
            nn.init.zeros_(module.bias)

    def forward(self, ids):
        x = self.words(ids) + self.places.weight[: ids.size(1)]
        for layer in self.layers:
            x = layer(x)
        return self.logits(self.norm(x))
