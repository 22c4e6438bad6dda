"""RE063: features that are made of later values, beside targets, lags and data that may be."""

from __future__ import annotations

import re

import pytest

from reenact.faults.registry import detector
from reenact.testing.faults import findings

AHEAD = {
    "a centred window of a table": (
        (
            "# forecast\n"
            "df['ma'] = df['load'].rolling(7, center=True).mean()\n"
            "df['target'] = df['load'].shift(-1)\n"
            "features = ['load', 'ma', 'hour']\n"
            "X = df[features]\n"
        ),
        2,
    ),
    "a filter": (
        (
            "smooth = gaussian_filter1d(level, 3)\n"
            "x = np.column_stack([level, smooth])\n"
            "loss = F.mse_loss(model(x[:-1]), level[1:])\n"
        ),
        1,
    ),
    "a shift beside the series": (
        (
            "momentum = np.roll(price, -3)\n"
            "x = np.stack([price, momentum], 1)\n"
            "y = torch.tensor(price[6:])\n"
            "loss = F.mse_loss(model(x[:-6]), y)\n"
        ),
        1,
    ),
}
ALLOWED = {
    "a target": (
        "forecast = 1\ndf['target'] = df['load'].shift(-1)\nfeatures = ['load', 'target']\n"
    ),
    "a trailing window": (
        "forecast = 1\ndf['ma'] = df['load'].rolling(7).mean()\nfeatures = ['load', 'ma']\n"
    ),
    "a lag": ("df['lag_1'] = df['load'].shift(1)\nprev = np.roll(x, 1)\n"),
    "data that is made": (
        "def make(n):\n"
        "    noise = rng.normal(size=n)\n"
        "    smooth = np.convolve(noise, np.ones(5) / 5, mode='same')\n"
        "    return base + smooth\n"
        "horizon = 4\n"
    ),
    "no forecast": (
        "def features(signal):\n"
        "    smooth = np.convolve(signal, np.ones(5) / 5, mode='same')\n"
        "    return np.stack([signal, smooth])\n"
    ),
    "an image": ("x = torch.roll(x, -1, 2)\n"),
    "a plot": (
        "forecast = 1\ntrend = df['load'].rolling(7, center=True).mean()\nplt.plot(trend)\n"
    ),
    "pairs of steps": (
        "forecast = 1\nfollowing = np.roll(x, -1)\npairs = np.stack([x, following])\n"
    ),
    "the shape of the series at the same time": (
        "smooth = gaussian_filter1d(level, 3)\n"
        "x = np.column_stack([level, smooth])\n"
        "loss = F.mse_loss(model(x), kinds)\n"
    ),
    "the latest row first": (
        "df = df.sort_values('t', ascending=False)\ndf['lag_1'] = df['load'].shift(-1)\n"
    ),
}

IN_ITS_WINDOW = {
    "a data set": (
        (
            "class Rows(Dataset):\n"
            "    def __getitem__(self, i):\n"
            "        x = self.series[i:i + self.window]\n"
            "        y = self.series[i + self.window - 1]\n"
            "        return x, y\n"
        ),
        4,
    ),
    "lists": (
        ("for i in range(n):\n    xs.append(series[i:i + w + 1])\n    ys.append(series[i + w])\n"),
        3,
    ),
    "a pair": (
        ("def __getitem__(self, i):\n    return self.s[i:i + self.w + 1], self.s[i + self.w]\n"),
        2,
    ),
    "several steps": (
        (
            "for i in range(n):\n"
            "    x = s[i:i + w]\n"
            "    y = s[i + w - 1:i + w - 1 + h]\n"
            "    kept.append((x, y))\n"
        ),
        3,
    ),
    "comprehensions": (
        (
            "X = np.stack([s[i:i + w] for i in range(n)])\ny = np.array([s[i + w - 1] for i in "
            "range(n)])\n"
        ),
        2,
    ),
    "one column": (
        ("for i in range(n):\n    xs.append(data[i:i + w])\n    ys.append(data[i + w - 1, 0])\n"),
        3,
    ),
}
BEHIND_ITS_WINDOW = {
    "the value behind": (
        "for i in range(n):\n    xs.append(s[i:i + w])\n    ys.append(s[i + w])\n"
    ),
    "tokens and the next ones": (
        "def __getitem__(self, i):\n    return self.ids[i:i + self.n], self.ids[i + 1:i + self.n "
        "+ 1]\n"
    ),
    "tokens by number": ("x = ids[i:i + 8]\ny = ids[i + 1:i + 9]\n"),
    "other columns": (
        "for i in range(n):\n    xs.append(d[i:i + w, 1:])\n    ys.append(d[i + w - 1, 0])\n"
    ),
    "another array": (
        "for i in range(n):\n    xs.append(f[i:i + w])\n    ys.append(t[i + w - 1])\n"
    ),
    "the last value as a baseline": (
        "for i in range(n):\n    x = s[i:i + w]\n    y = s[i + w]\n    last = s[i + w - 1]\n"
    ),
    "the horizon": ("for i in range(n):\n    x = s[i:i + w]\n    y = s[i + w:i + w + h]\n"),
    "batches": ("x = X[i:i + b]\ny = Y[i:i + b]\n"),
    "a split": ("x_train = data[:80]\ny = data[79]\n"),
    "chunks": ("x = data[i:i + b]\ny = data[i:i + b]\n"),
    "labels of a row": ("row = table[i]\ny = table[i][0]\n"),
}


@pytest.mark.parametrize("name", AHEAD)
def test_features_that_know_later_values(name: str) -> None:
    text, line = AHEAD[name]
    assert [
        one.place.line for one in findings(detector("RE063"), text) if one.place is not None
    ] == [line]


NAMES = ("df", "features", "load", "ma", "smooth", "level", "momentum", "price", "x", "y")


@pytest.mark.parametrize("name", AHEAD)
def test_what_variables_are_called_does_not_matter(name: str) -> None:
    text, line = AHEAD[name]
    for number, word in enumerate(NAMES):
        text = re.sub(rf"\b{word}\b", f"v{number}", text)
    (finding,) = findings(detector("RE063"), text)
    assert finding.place is not None
    assert finding.place.line == line


@pytest.mark.parametrize("name", ALLOWED)
def test_values_that_may_be_known(name: str) -> None:
    assert findings(detector("RE063"), ALLOWED[name]) == ()


@pytest.mark.parametrize("name", IN_ITS_WINDOW)
def test_windows_that_hold_their_target(name: str) -> None:
    text, line = IN_ITS_WINDOW[name]
    assert [
        one.place.line for one in findings(detector("RE063"), text) if one.place is not None
    ] == [line]


@pytest.mark.parametrize("name", BEHIND_ITS_WINDOW)
def test_windows_that_end_before_their_target(name: str) -> None:
    assert findings(detector("RE063"), BEHIND_ITS_WINDOW[name]) == ()
