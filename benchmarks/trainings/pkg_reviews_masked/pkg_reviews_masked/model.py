import torch
from torch import nn

from .data import MAX_LEN
from .vocab import PAD, WORDS


class ReviewEncoder(nn.Module):
    def __init__(self, dim=32, heads=2, layers=1, dropout=0.1):
        super().__init__()
        self.embed = nn.Embedding(len(WORDS), dim)
        self.position = nn.Parameter(torch.randn(MAX_LEN, dim) * 0.02)
        layer = nn.TransformerEncoderLayer(dim, heads, 2 * dim, dropout, batch_first=True, norm_first=True)
        self.encoder = nn.TransformerEncoder(layer, layers, enable_nested_tensor=False)
        self.score = nn.Linear(dim, 1)

    def forward(self, tokens):
        x = self.embed(tokens) + self.position[: tokens.size(1)]
        padding = tokens == PAD
        x = self.encoder(x, src_key_padding_mask=padding)
        keep = (~padding).unsqueeze(-1).float()
        pooled = (x * keep).sum(dim=1) / keep.sum(dim=1)
        return self.score(pooled).squeeze(-1)
