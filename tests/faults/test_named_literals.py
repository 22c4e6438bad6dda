"""What a call is given says the same as a literal and as a variable that stands for it."""

from __future__ import annotations

import ast

import pytest

from made_evidence import findings_in
from reenact.program.flow.constants import constant_of, read_through
from reenact.program.syntax.pieces import calls_in
from reenact.testing.faults import evidence_of


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("f(2)\n", 2),
        ("n = 2\nf(n)\n", 2),
        ("n = 2\ndef use():\n    f(n)\n", 2),
        ("def use():\n    n = 2\n    f(n)\n", 2),
        ("n = 2\nn = 2\nf(n)\n", 2),
        ("n = 2\nn = 3\nf(n)\n", None),
        ("n = 1 + 1\nf(n)\n", None),
        ("n, other = 2, 3\nf(n)\n", 2),
        ("n = 2\nsame = n\nf(same)\n", 2),
        ("n = n\nf(n)\n", None),
        ("n = 2\nn += 2\nf(n)\n", None),
        ("n = 2\nfor n in rows:\n    f(n)\n", None),
        ("n = 2\nuse = lambda n: f(n)\n", None),
        ("n = 2\nasync def use(n):\n    f(n)\n", None),
        ("n = 2\ndef use():\n    n = 3\n    return n\nf(n)\n", 2),
        ("n = 2\ndef use(n):\n    f(n)\n", None),
        ("f(n)\n", None),
        ("f()\n", None),
    ],
)
def test_a_variable_stands_for_the_one_literal_that_it_is_given(
    text: str, value: int | None
) -> None:
    (call,) = calls_in(evidence_of(text, run=False).files[0].tree, "f")
    found = constant_of(call.args[0] if call.args else None)
    assert (found.value if found is not None else None) == value


OVERSAMPLED = """
from sklearn.utils import resample
from sklearn.model_selection import train_test_split
AGAIN = {again}
rare = np.flatnonzero(y)
more = np.random.choice(rare, 100, replace=AGAIN)
x, y = x[more], y[more]
train, test = train_test_split(x)
"""
BALANCED = """
AGAIN = {again}
def prepare(x, y):
    x, y = balance(x, y)
    x_train, x_val, y_train, y_val = train_test_split(x, y)
    return x_train, x_val, y_train, y_val
def balance(x, y):
    return resample(x, replace=AGAIN), y
"""


@pytest.mark.parametrize(("text", "line"), [(OVERSAMPLED, 6), (BALANCED, 4)])
def test_rows_are_drawn_repeatedly_where_a_constant_says_so(text: str, line: int) -> None:
    drawn = findings_in("RE055", evidence_of(text.format(again=True), run=False))
    assert [one.place.line for one in drawn if one.place is not None] == [line]
    assert findings_in("RE055", evidence_of(text.format(again=False), run=False)) == ()


@pytest.mark.parametrize(
    ("text", "read"),
    [
        ("n = -2\nf(n)\n", "-2"),
        ("n = (0, -1)\nf(n)\n", "(0, -1)"),
        ("n = float('-inf')\nf(n)\n", "float('-inf')"),
        ("n = float('7')\nf(n)\n", "n"),
        ("n = -x\nf(n)\n", "n"),
        ("f(-n)\n", "-n"),
    ],
)
def test_numbers_below_zero_and_lists_are_literals_too(text: str, read: str) -> None:
    (call,) = calls_in(evidence_of(text, run=False).files[0].tree, "f")
    assert ast.unparse(read_through(call.args[0])) == read


BOUND = """
TWO, AXIS, HOW = {square}, 1, {reduction!r}
def elbo(x, back, mean, log_var):
    near = F.mse_loss(back, x, reduction=HOW)
    far = -0.5 * torch.sum(1 + log_var - mean.pow(TWO) - log_var.exp())
    return near + far
"""


@pytest.mark.parametrize(
    ("square", "reduction", "lines"),
    [(2, "mean", [5]), (2.0, "mean", [5]), (3, "mean", []), (2, "sum", [])],
)
def test_a_divergence_and_its_reconstruction_are_read_through_constants(
    square: float, reduction: str, lines: list[int]
) -> None:
    text = BOUND.format(square=square, reduction=reduction)
    found = findings_in("RE054", evidence_of(text, run=False))
    assert [one.place.line for one in found if one.place is not None] == lines


@pytest.mark.parametrize(("older", "count"), [(True, 1), (False, 0)])
def test_the_older_word_for_a_sum_is_read_through_a_constant(older: bool, count: int) -> None:
    text = BOUND.format(square=2, reduction="").replace("reduction=HOW", "size_average=OLD")
    found = findings_in("RE054", evidence_of(f"OLD = {older}\n{text}", run=False))
    assert len(found) == count
