"""Two-tower (CLIP-like) training that aligns small pictures with their captions."""
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset

SHAPES = ["square", "bar", "cross", "frame"]
PLACES = ["top left", "top right", "bottom left", "bottom right"]
TONES = ["dark", "bright"]
VOCAB = {w: i for i, w in enumerate(sorted({w for s in SHAPES + PLACES + TONES for w in s.split()} | {"a", "at", "the"}))}


def paint(shape, place, tone, rng):
    img = np.zeros((16, 16))
    patch = np.zeros((7, 7))
    if shape == 0:
        patch[1:6, 1:6] = 1
    elif shape == 1:
        patch[2:4, :] = 1
    elif shape == 2:
        patch[3, :] = patch[:, 3] = 1
    else:
        patch[0, :] = patch[-1, :] = patch[:, 0] = patch[:, -1] = 1
    y, x = (place // 2) * 8 + rng.integers(0, 2), (place % 2) * 8 + rng.integers(0, 2)
    img[y : y + 7, x : x + 7] = patch * (0.5 if tone == 0 else 1.0)
    return img + rng.normal(0, 0.1, img.shape)


def make_pairs(n, seed):
    rng = np.random.default_rng(seed)
    images, captions = [], []
    for _ in range(n):
        s, p, t = rng.integers(4), rng.integers(4), rng.integers(2)
        images.append(paint(s, p, t, rng))
        captions.append([VOCAB[w] for w in f"a {TONES[t]} {SHAPES[s]} at the {PLACES[p]}".split()])
    return torch.tensor(np.stack(images), dtype=torch.float32).unsqueeze(1), torch.tensor(captions)


class ImageTower(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.net = nn.Sequential(
            nn.Conv2d(1, 16, 3, 2, 1), nn.ReLU(), nn.Conv2d(16, 32, 3, 2, 1), nn.ReLU(), nn.Flatten(), nn.Linear(512, dim)
        )

    def forward(self, x):
        return F.normalize(self.net(x), dim=-1)


class TextTower(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.embed = nn.Embedding(len(VOCAB), 32)
        self.net = nn.Sequential(nn.Linear(32 * 7, 64), nn.ReLU(), nn.Linear(64, dim))

    def forward(self, tokens):
        return F.normalize(self.net(self.embed(tokens).flatten(1)), dim=-1)


def contrast(image_vectors, text_vectors, scale):
    logits = scale.exp() * image_vectors @ text_vectors.T
    target = torch.arange(len(logits))
    return (F.cross_entropy(logits, target) + F.cross_entropy(logits.T, target)) / 2


@torch.no_grad()
def caption_recall(images, captions, towers):
    image_tower, text_tower = towers
    options, index = torch.unique(captions, dim=0, return_inverse=True)
    best = (image_tower(images) @ text_tower(options).T).argmax(1)
    return (best == index).float().mean().item()


def main(epochs=8, batch_size=64):
    torch.manual_seed(5)
    images, captions = make_pairs(2000, 0)
    val_images, val_captions = make_pairs(500, 1)
    image_loader = DataLoader(TensorDataset(images), batch_size=batch_size, shuffle=True, drop_last=True)
    caption_loader = DataLoader(TensorDataset(captions), batch_size=batch_size, shuffle=True, drop_last=True)
    towers = nn.ModuleList([ImageTower(32), TextTower(32)])
    scale = nn.Parameter(torch.tensor(np.log(1 / 0.1), dtype=torch.float32))
    optimizer = torch.optim.AdamW([*towers.parameters(), scale], lr=1e-3)
    for epoch in range(1, epochs + 1):
        total = 0.0
        for (x,), (c,) in zip(image_loader, caption_loader):
            loss = contrast(towers[0](x), towers[1](c), scale)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            with torch.no_grad():
                scale.clamp_(max=np.log(100))
            total += loss.item()
        recall = caption_recall(val_images, val_captions, towers)
        print(f"epoch {epoch} loss {total / len(image_loader):.4f} caption recall {recall:.3f} of chance {1 / 32:.3f}")


if __name__ == "__main__":
    main()
