"""Six-hours-ahead forecast of a river gauge from rain and level, dilated convolutions."""
import numpy as np
import torch
import torch.nn as nn

LOOKBACK, AHEAD = 48, 6


def simulate_basin(hours, seed):
    rng = np.random.default_rng(seed)
    rain = np.zeros(hours)
    t = 0
    while t < hours:
        t += int(rng.exponential(30)) + 1
        dur = int(rng.integers(2, 12))
        rain[t:t + dur] += rng.gamma(2.0, 1.0)
        t += dur
    soil, fast, slow = 0.3, 0.0, 1.0
    level = np.zeros(hours)
    for i in range(hours):
        lagged = rain[i - 5] if i >= 5 else 0.0
        soil = min(1.0, 0.995 * soil + 0.01 * lagged)
        fast = 0.86 * fast + 0.5 * soil * lagged
        slow = 0.997 * slow + 0.02 * (1 - soil) * lagged
        level[i] = fast + slow + rng.normal(0, 0.03)
    return rain, level


def to_windows(rain, level, start, stop, stride):
    xs, ys, last = [], [], []
    for s in range(start, stop - LOOKBACK - AHEAD, stride):
        e = s + LOOKBACK
        xs.append(np.stack([rain[s:e], level[s:e]]))
        ys.append(level[e + AHEAD - 1])
        last.append(level[e - 1])
    as_t = lambda a: torch.tensor(np.array(a), dtype=torch.float32)
    return as_t(xs), as_t(ys), as_t(last)


class CausalConv(nn.Module):
    def __init__(self, c_in, c_out, dilation):
        super().__init__()
        self.pad = 2 * dilation
        self.conv = nn.Conv1d(c_in, c_out, 3, dilation=dilation)
        self.skip = nn.Conv1d(c_in, c_out, 1) if c_in != c_out else nn.Identity()

    def forward(self, x):
        y = self.conv(nn.functional.pad(x, (self.pad, 0)))
        return torch.relu(y) + self.skip(x)


class TCN(nn.Module):
    def __init__(self, channels=24):
        super().__init__()
        self.layers = nn.Sequential(
            CausalConv(2, channels, 1), CausalConv(channels, channels, 2),
            CausalConv(channels, channels, 4), CausalConv(channels, channels, 8),
        )
        self.readout = nn.Linear(channels, 1)

    def forward(self, x):
        return self.readout(self.layers(x)[:, :, -1])


def log_cosh(pred, target):
    err = pred - target
    return (err + nn.functional.softplus(-2 * err) - 0.6931472).mean()


def main():
    torch.manual_seed(0)
    rain, level = simulate_basin(9000, seed=0)
    cut = 7000
    r_s, l_m, l_s = rain[:cut].std(), level[:cut].mean(), level[:cut].std()
    rain, level = rain / r_s, (level - l_m) / l_s
    x, y, _ = to_windows(rain, level, 0, cut, 2)
    xv, yv, last = to_windows(rain, level, cut, len(level), 3)

    model = TCN()
    opt = torch.optim.Adam(model.parameters(), lr=2e-3)
    for epoch in range(1, 13):
        model.train()
        total, seen = 0.0, 0
        for idx in torch.randperm(len(x)).split(64):
            loss = log_cosh(model(x[idx]), y[idx])
            opt.zero_grad()
            loss.backward()
            opt.step()
            total += loss.item() * len(idx)
            seen += len(idx)
        model.eval()
        with torch.no_grad():
            pred = model(xv).flatten()
        mae = (pred - yv).abs().mean() * l_s
        skill = 1 - ((pred - yv) ** 2).mean() / ((last - yv) ** 2).mean()
        print(f"epoch {epoch:2d}  loss {total / seen:.4f}  val MAE {mae:.3f} m  skill over persistence {skill:+.3f}")


if __name__ == "__main__":
    main()
