"""Star classification with accelerate: gradient accumulation, clipping on sync steps, class-weighted loss, EMA weights."""
import copy

import numpy as np
import torch
from accelerate import Accelerator
from accelerate.utils import set_seed
from sklearn.metrics import balanced_accuracy_score
from sklearn.preprocessing import StandardScaler
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

EPOCHS = 12
MICRO_BATCH = 32
ACCUMULATE = 4


def catalogue(n, seed):
    rng = np.random.default_rng(seed)
    kind = rng.choice(3, n, p=[0.8, 0.15, 0.05])
    temperature = np.where(kind == 0, rng.uniform(3000, 20000, n), np.where(kind == 1, rng.uniform(3000, 6500, n), rng.uniform(6000, 40000, n)))
    absolute = np.where(kind == 0, 20 - 4.2 * np.log(temperature / 1000) * 2, np.where(kind == 1, rng.normal(0, 1.5, n), rng.normal(12, 1.2, n)))
    absolute = absolute + rng.normal(0, 0.8, n)
    colour = 7000 / temperature + rng.normal(0, 0.08, n)
    parallax = rng.lognormal(1, 0.6, n)
    features = np.column_stack([np.log10(temperature), absolute, colour, np.log(parallax)])
    return features, kind


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.trunk = nn.Sequential(
            nn.Linear(4, 64), nn.LayerNorm(64), nn.GELU(), nn.Dropout(0.1), nn.Linear(64, 64), nn.LayerNorm(64), nn.GELU()
        )
        self.head = nn.Linear(64, 3)

    def forward(self, x):
        return self.head(self.trunk(x))


class Ema:
    def __init__(self, model, decay):
        self.shadow = copy.deepcopy(model).eval().requires_grad_(False)
        self.decay = decay

    @torch.no_grad()
    def update(self, model):
        for s, p in zip(self.shadow.parameters(), model.parameters()):
            s.lerp_(p, 1 - self.decay)


def score(model, loader):
    model.eval()
    with torch.inference_mode():
        out = [(model(x).argmax(1), y) for x, y in loader]
    return balanced_accuracy_score(torch.cat([y for _, y in out]), torch.cat([p for p, _ in out]))


def main():
    set_seed(17)
    x, y = catalogue(4000, 0)
    x_test, y_test = catalogue(2000, 1)
    scaler = StandardScaler().fit(x)
    to_tensor = lambda a, b: TensorDataset(torch.tensor(scaler.transform(a), dtype=torch.float32), torch.tensor(b))  # noqa: E731
    train_loader = DataLoader(to_tensor(x, y), batch_size=MICRO_BATCH, shuffle=True, drop_last=True)
    test_loader = DataLoader(to_tensor(x_test, y_test), batch_size=500)

    counts = np.bincount(y)
    weights = torch.tensor(len(y) / (len(counts) * counts), dtype=torch.float32)
    criterion = nn.CrossEntropyLoss(weight=weights)

    accelerator = Accelerator(cpu=True, gradient_accumulation_steps=ACCUMULATE)
    model = Net()
    optimizer = torch.optim.AdamW(model.parameters(), lr=4e-3, weight_decay=0.01)
    updates = EPOCHS * len(train_loader) // ACCUMULATE
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, max_lr=4e-3, total_steps=updates + 10, pct_start=0.1)
    model, optimizer, train_loader = accelerator.prepare(model, optimizer, train_loader)
    ema = Ema(accelerator.unwrap_model(model), decay=0.99)
    for epoch in range(1, EPOCHS + 1):
        model.train()
        for xb, yb in train_loader:
            with accelerator.accumulate(model):
                loss = criterion(model(xb), yb)
                accelerator.backward(loss)
                if accelerator.sync_gradients:
                    accelerator.clip_grad_norm_(model.parameters(), 1.0)
                optimizer.step()
                optimizer.zero_grad()
            if accelerator.sync_gradients:
                schedule.step()
                ema.update(accelerator.unwrap_model(model))
        if epoch % 3 == 0:
            raw, smooth = score(model, test_loader), score(ema.shadow, test_loader)
            accelerator.print(f"epoch {epoch}: loss {loss.item():.3f} balanced accuracy {raw:.3f} (EMA {smooth:.3f})")


if __name__ == "__main__":
    main()
