"""Herb recognition with accelerate: gradient accumulation and a two-speed optimizer.

`accelerator.accumulate` makes step() and zero_grad() do nothing except on every fourth micro batch,
so both are called in each iteration on purpose. The odd last micro batches are handled by accelerate too.
"""
import numpy as np
import torch
from accelerate import Accelerator
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


def leaves(n, seed):
    r = np.random.default_rng(seed)
    kind = r.integers(0, 6, n)
    th = np.linspace(0, 2 * np.pi, 48, endpoint=False)
    lobes = np.array([2, 3, 4, 5, 3, 5])[kind]
    depth = np.array([0.3, 0.3, 0.3, 0.3, 0.7, 0.7])[kind]
    radius = 1 + depth[:, None] * np.cos(lobes[:, None] * th + r.uniform(0, 6.28, (n, 1))) + r.normal(0, 0.35, (n, 48))
    return torch.tensor(radius, dtype=torch.float32), torch.tensor(kind)


class RotationNet(nn.Module):
    """circular convolutions, so that turning the leaf does not matter"""

    def __init__(self, ch=24):
        super().__init__()
        self.features = nn.Sequential(
            nn.Conv1d(1, ch, 9, padding=4, padding_mode="circular"), nn.GroupNorm(4, ch), nn.GELU(),
            nn.Conv1d(ch, ch, 9, padding=4, stride=2, padding_mode="circular"), nn.GroupNorm(4, ch), nn.GELU(),
            nn.Conv1d(ch, ch, 5, padding=2, stride=2, padding_mode="circular"), nn.GELU(),
        )
        self.head = nn.Linear(2 * ch, 6)

    def forward(self, x):
        h = self.features(x[:, None] - 1)
        return self.head(torch.cat([h.mean(-1), h.std(-1)], dim=1))


def main():
    torch.manual_seed(19)
    accelerator = Accelerator(gradient_accumulation_steps=4, cpu=True)
    train = DataLoader(TensorDataset(*leaves(1500, 0)), batch_size=12, shuffle=True)
    test = DataLoader(TensorDataset(*leaves(600, 1)), batch_size=100)
    model = RotationNet()
    optimizer = torch.optim.AdamW([
        {"params": model.features.parameters(), "lr": 4e-3},
        {"params": model.head.parameters(), "lr": 1e-2},
    ])
    model, optimizer, train, test = accelerator.prepare(model, optimizer, train, test)
    for epoch in range(9):
        if epoch == 6:
            for group in optimizer.param_groups:
                group["lr"] *= 0.2
        model.train()
        losses = []
        for x, y in train:
            with accelerator.accumulate(model):
                loss = nn.functional.cross_entropy(model(x), y)
                accelerator.backward(loss)
                if accelerator.sync_gradients:
                    accelerator.clip_grad_norm_(model.parameters(), 1.0)
                optimizer.step()
                optimizer.zero_grad()
            losses.append(loss.item())
        model.eval()
        hits = []
        with torch.no_grad():
            for x, y in test:
                hits.append((model(x).argmax(-1) == y).float())
        print(f"epoch {epoch} loss {np.mean(losses):.3f} test accuracy {torch.cat(hits).mean().item():.3f}")
    print(f"guessing {1 / 6:.3f}")


if __name__ == "__main__":
    main()
