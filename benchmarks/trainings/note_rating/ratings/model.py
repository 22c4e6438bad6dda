import torch
from torch import nn


class NoteScorer(nn.Module):
    def __init__(self, vocab_size, dim=48, heads=4, max_len=64):
        super().__init__()
        self.embed = nn.Embedding(vocab_size, dim)
        self.position = nn.Parameter(torch.randn(max_len, dim) * 0.02)
        self.layer = nn.TransformerEncoderLayer(dim, heads, 2 * dim, dropout=0.0, batch_first=True, norm_first=True)
        self.norm = nn.LayerNorm(dim)
        self.score = nn.Linear(dim, 1)

    def forward(self, ids, keep):
        x = self.embed(ids) + self.position[: ids.size(1)]
        x = self.layer(x, src_key_padding_mask=~keep)
        x = self.score(self.norm(x)).squeeze(-1)
        w = keep.float()
        return (x * w).sum(1) / w.sum(1).clamp(min=1)
