"""Finds a bright disc in a noisy picture (segmentation), with crops at random places."""

import torch
from torch import nn
from torch.nn import functional
from torch.utils.data import DataLoader, Dataset

SIZE, CROP, BATCH_SIZE, EPOCHS = 24, 16, 32, 5


def pictures(rows, seed):
    generator = torch.Generator().manual_seed(seed)
    centres = 4 + (SIZE - 8) * torch.rand(rows, 2, 1, 1, generator=generator)
    radius = 3 + 3 * torch.rand(rows, 1, 1, generator=generator)
    grid = torch.arange(SIZE).float()
    distance = ((grid[:, None] - centres[:, 0]) ** 2 + (grid[None] - centres[:, 1]) ** 2).sqrt()
    masks = (distance < radius).float()
    noise = torch.randn(rows, SIZE, SIZE, generator=generator)
    return (0.8 * masks + 0.6 * noise)[:, None], masks[:, None]


class Crops(Dataset):
    def __init__(self, images, masks):
        self.images, self.masks = images, masks

    def __len__(self):
        return len(self.images)

    def __getitem__(self, row):
        top, left = torch.randint(0, SIZE - CROP + 1, (2,)).tolist()
        rows, columns = slice(top, top + CROP), slice(left, left + CROP)
        return self.images[row, :, rows, columns], self.masks[row, :, rows, columns]


def overlap(model, images, masks):
    with torch.no_grad():
        found = (model(images) > 0).float()
    return (2 * (found * masks).sum() / (found.sum() + masks.sum())).item()


def main():
    torch.manual_seed(0)
    loader = DataLoader(Crops(*pictures(400, 1)), batch_size=BATCH_SIZE, shuffle=True)
    test_images, test_masks = pictures(100, 2)
    model = nn.Sequential(
        nn.Conv2d(1, 12, 5, padding=2), nn.ReLU(), nn.Conv2d(12, 12, 5, padding=2), nn.ReLU(),
        nn.Conv2d(12, 1, 3, padding=1),
    )
    optimizer = torch.optim.Adam(model.parameters(), lr=4e-3)
    for epoch in range(EPOCHS):
        for images, masks in loader:
            loss = functional.binary_cross_entropy_with_logits(model(images), masks)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        print(f"epoch {epoch} loss {loss.item():.4f} test f1 {overlap(model, test_images, test_masks):.4f}")


if __name__ == "__main__":
    main()
