"""RE007, as the text shows it: each split scaled by its own mean and deviation, beside programs in which the
training rows say how, or every row is scaled by itself."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from made_evidence import QUANTITIES, findings_in, trace
from reenact.faults.evidence import Evidence
from reenact.program.program import program_from_text
from reenact.program.training.rows.own_figures import scaled_by_themselves
from reenact.testing.faults import evidence_of

APART = {
    "each split by itself": (
        "train = (train - train.mean()) / train.std()\ntest = (test - test.mean()) / test.std()\n"
    ),
    "features of each split": (
        "mu, sd = x_train.mean(0), x_train.std(0)\n"
        "x_train = (x_train - mu) / sd\n"
        "x_test = (x_test - x_test.mean(axis=0)) / (x_test.std(axis=0) + 1e-8)\n"
    ),
    "figures in variables": (
        "m = x_train.mean(0)\n"
        "s = x_train.std(0)\n"
        "x_train = (x_train - m) / s\n"
        "mt, st = x_test.mean(0), x_test.std(0)\n"
        "x_test = (x_test - mt) / st\n"
    ),
    "functions of numpy": (
        "a = (x_train - np.mean(x_train)) / np.std(x_train)\nb = (x_val - np.mean(x_val)) / "
        "np.std(x_val)\n"
    ),
    "the ends of a range": (
        "a = (x_train - x_train.min(0)) / (x_train.max(0) - x_train.min(0))\n"
        "b = (x_test - x_test.min(0)) / (x_test.max(0) - x_test.min(0))\n"
    ),
    "a function for each split": (
        "def normalise(x):\n"
        "    return (x - x.mean(0)) / x.std(0)\n"
        "xt = normalise(x_train)\n"
        "xv = normalise(x_val)\n"
    ),
    "a function, splits by the name of its answer": (
        "def standardize(arr):\n"
        "    mu = arr.mean(axis=0)\n"
        "    sd = arr.std(axis=0) + 1e-6\n"
        "    return (arr - mu) / sd\n"
        "train = standardize(series[:n])\n"
        "test = standardize(series[n:])\n"
    ),
    "a data set for each split": (
        "class W(Dataset):\n"
        "    def __init__(self, series, n=3):\n"
        "        self.mean, self.std = float(series.mean()), float(series.std())\n"
        "        self.series = torch.from_numpy((series - self.mean) / self.std)\n"
        "train_ds = W(series[:cut], 3)\n"
        "test_ds = W(series[cut:], 3)\n"
    ),
    "a loop over splits": (
        "for part in (train, test):\n    write((part - part.mean()) / part.std())\n"
    ),
    "a comprehension over splits": (
        "train, test = [(a - a.mean(0)) / a.std(0) for a in (train, test)]\n"
    ),
    "a function of scikit-learn": (
        "from sklearn.preprocessing import scale\nx_train = scale(x_train)\nx_test = "
        "scale(x_test)\n"
    ),
    "splits of a dictionary": (
        "x['train'] = (x['train'] - x['train'].mean()) / x['train'].std()\n"
        "x['test'] = (x['test'] - x['test'].mean()) / x['test'].std()\n"
        "model.fit(x['train'], y)\n"
        "model.predict(x['test'])\n"
    ),
}
ALIKE = {
    "the figures of the training rows": (
        "m, s = train.mean(0), train.std(0)\ntrain = (train - m) / s\ntest = (test - m) / s\n"
    ),
    "every row by itself": (
        "train = (train - train.mean(1, keepdims=True)) / train.std(1, keepdims=True)\n"
        "test = (test - test.mean(1, keepdims=True)) / test.std(1, keepdims=True)\n"
    ),
    "every window by itself, in a function": (
        "def f(x):\n"
        "    return (x - x.mean(dim=-1, keepdim=True)) / x.std(dim=-1, keepdim=True)\n"
        "a = f(x_train)\n"
        "b = f(x_test)\n"
    ),
    "before the split": ("x = (x - x.mean(0)) / x.std(0)\nx_train, x_test = x[:80], x[80:]\n"),
    "figures handed on to the test rows": (
        "class W(Dataset):\n"
        "    def __init__(self, s, stats=None):\n"
        "        self.mean, self.std = stats if stats is not None else (s.mean(), s.std())\n"
        "        self.s = (s - self.mean) / self.std\n"
        "a = W(s[:9])\n"
        "test_ds = W(s[9:], stats=(a.mean, a.std))\n"
    ),
    "figures as arguments": (
        "def f(x, mean=None, std=None):\n"
        "    if mean is None:\n"
        "        mean, std = x.mean(0), x.std(0)\n"
        "    return (x - mean) / std, mean, std\n"
        "x_train, m, s = f(x_train)\n"
        "x_test, _, _ = f(x_test, m, s)\n"
    ),
    "training rows alone": ("train = (train - train.mean()) / train.std()\n"),
    "a measure": ("def f(y_test, pred):\n    return (y_test - y_test.mean()) / y_test.std()\n"),
    "errors of a test": ("z = (err_test - err_test.mean()) / err_test.std()\n"),
    "one window after the other": (
        "def norm(w):\n"
        "    return (w - w.mean()) / w.std()\n"
        "xs = [norm(w) for w in train]\n"
        "ys = [norm(w) for w in test]\n"
    ),
}


SPLITS = """
x_train, x_test = train_test_split(x)
x_train, x_val = train_test_split(x)
train, test = random_split(rows, [80, 20])
err_train, err_test = train_test_split(errors)
y_train, y_test = train_test_split(y)
"""
NAMES = ("x_train", "x_test", "x_val", "train", "test", "part", "mu", "sd", "normalise")


def lines(text: str) -> list[int]:
    found = scaled_by_themselves(Evidence(program_from_text(text + SPLITS)).files)
    return [node.lineno for node, _ in found]


@pytest.mark.parametrize("name", APART)
def test_held_out_rows_with_figures_of_their_own(name: str) -> None:
    assert len(lines(APART[name])) == 1


@pytest.mark.parametrize("name", APART)
def test_what_variables_are_called_does_not_matter(name: str) -> None:
    text = APART[name] + SPLITS
    for number, word in enumerate(NAMES):
        text = re.sub(rf"\b{word}\b", f"v{number}", text)
    found = scaled_by_themselves(Evidence(program_from_text(text)).files)
    assert [node.lineno for node, _ in found] == lines(APART[name])


@pytest.mark.parametrize("name", ALIKE)
def test_rows_that_are_scaled_as_the_model_knows_them(name: str) -> None:
    assert lines(ALIKE[name]) == []


def test_the_place_is_where_the_figures_are_taken() -> None:
    assert lines(APART["a data set for each split"]) == [3]
    assert lines(APART["figures in variables"]) == [4]


MADE = "scaler = StandardScaler()\n"
DATA_SET = """
class Rows(Dataset):
    def __init__(self, table):
        self.scaler = StandardScaler()
        self.x = self.scaler.fit_transform(table)
"""


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        (MADE + "a = scaler.fit_transform(x_train)\nb = scaler.fit_transform(x_test)\n", [3]),
        (
            MADE + "scaler.fit(x_train)\na = scaler.transform(x_train)\nscaler.fit(x_test)\n",
            [4],
        ),
        ("norm = Normalization()\nnorm.adapt(x_train)\nnorm.adapt(x_val)\n", [3]),
        (DATA_SET + "train = Rows(table[:80])\ntest = Rows(table[80:])\n", [5]),
        (MADE + "scaler.fit(x_train)\na = scaler.transform(x_test)\n", []),
        (MADE + "a = scaler.fit_transform(x_train)\nPCA(2).fit(x_test)\n", []),
        (
            MADE + "a = scaler.fit_transform(x_train)\nb = scaler.fit_transform(y_train)\n",
            [],
        ),
    ],
)
def test_scalers_that_are_fitted_to_held_out_rows(text: str, lines: list[int]) -> None:
    run = trace([1.0] * 20, data=(QUANTITIES,))
    found = findings_in("RE007", replace(evidence_of(text + SPLITS, run=False), trace=run))
    assert [one.place.line for one in found if one.place is not None] == lines
