"""Probabilistic forecasts of a drifting, mostly negative temperature series; MC dropout stays on at test time on purpose."""
import numpy as np
import torch
import torch.nn as nn

np.random.seed(44)
torch.manual_seed(44)

N, WINDOW, AHEAD = 2600, 48, 6
QUANTILES = torch.tensor([0.1, 0.5, 0.9])

t = np.arange(N)
season = 6.0 * np.sin(2 * np.pi * t / 24) + 3.0 * np.sin(2 * np.pi * t / 168)
noise = np.zeros(N)
for i in range(1, N):
    noise[i] = 0.85 * noise[i - 1] + 0.6 * np.random.randn() * (1 + 0.6 * np.sin(2 * np.pi * i / 24))
series = -14.0 + season + noise - 0.001 * t

split_a, split_b = int(0.7 * N), int(0.85 * N)
mean, std = series[:split_a].mean(), series[:split_a].std()
scaled = torch.tensor((series - mean) / std, dtype=torch.float32)


def windows(lo, hi):
    """Windows whose inputs and targets both lie inside [lo, hi)."""
    starts = range(lo, hi - WINDOW - AHEAD + 1)
    x = torch.stack([scaled[s:s + WINDOW] for s in starts])
    y = torch.stack([scaled[s + WINDOW:s + WINDOW + AHEAD] for s in starts])
    return x, y


class Forecaster(nn.Module):
    def __init__(self, hidden=40):
        super().__init__()
        self.gru = nn.GRU(1, hidden, batch_first=True)
        self.drop = nn.Dropout(0.1)
        self.out = nn.Linear(hidden, AHEAD * 3)

    def forward(self, x):
        _, h = self.gru(x[..., None])
        raw = self.out(self.drop(h[0])).view(-1, AHEAD, 3)
        middle = raw[..., 1:2]
        # quantiles cannot cross
        low = middle - nn.functional.softplus(raw[..., :1])
        high = middle + nn.functional.softplus(raw[..., 2:])
        return torch.cat([low, middle, high], dim=-1) + x[:, -1, None, None]


def pinball(pred, y):
    err = y[..., None] - pred
    return torch.maximum(QUANTILES * err, (QUANTILES - 1) * err).mean()


x_train, y_train = windows(0, split_a)
x_val, y_val = windows(split_a, split_b)
x_test, y_test = windows(split_b, N)

model = Forecaster()
opt = torch.optim.Adam(model.parameters(), lr=4e-3)
plateau = torch.optim.lr_scheduler.ReduceLROnPlateau(opt, factor=0.5, patience=2)
best, best_state, patience = float("inf"), None, 0

for epoch in range(9):
    model.train()
    total = 0.0
    for idx in torch.randperm(len(x_train)).split(64):
        loss = pinball(model(x_train[idx]), y_train[idx])
        opt.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        opt.step()
        total += loss.item() * len(idx)
    model.eval()
    with torch.no_grad():
        val = pinball(model(x_val), y_val).item()
    plateau.step(val)
    print(f"epoch {epoch + 1:2d} train {total / len(x_train):.4f} val {val:.4f} lr {opt.param_groups[0]['lr']:.4f}")
    if val < best - 1e-4:
        best, patience = val, 0
        best_state = {k: v.clone() for k, v in model.state_dict().items()}
    else:
        patience += 1
        if patience == 5:
            print("early stop")
            break

model.load_state_dict(best_state)
model.train()  # samples of the dropout posterior
with torch.no_grad():
    draws = torch.stack([model(x_test) for _ in range(20)])
pred = draws.mean(0)
inside = ((y_test >= pred[..., 0]) & (y_test <= pred[..., 2])).float().mean()
mae = (pred[..., 1] - y_test).abs().mean() * std
naive = (x_test[:, -1:] - y_test).abs().mean() * std
daily = (x_test[:, WINDOW - 24:WINDOW - 24 + AHEAD] - y_test).abs().mean() * std
print(f"test MAE {mae:.3f} degrees (last value {naive:.3f}, same hour yesterday {daily:.3f}); 80% band covers {inside:.3f}; "
      f"epistemic std {draws[..., 1].std(0).mean() * std:.3f}")
