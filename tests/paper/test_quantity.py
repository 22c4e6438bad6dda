"""Numbers as papers and programs write them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reenact.paper.quantity import as_quantity, near, quantities, states


@pytest.mark.parametrize(
    ("text", "values"),
    [
        (r"a rate of $10^{-3}$, or 1e-3, or $3 \times 10^{-4}$", [1e-3, 1e-3, 3e-4]),
        (r"91.4\% and 91.4 % and 5 per cent", [91.4, 91.4, 5.0]),
        (
            r"1,024 and 10{,}000 and 10\,000 and 20K",
            [1024.0, 10000.0, 10000.0, 20000.0],
        ),
        ("ResNet18 with x1 and L2 in three layers", [3.0]),
        ("between 0.1-0.2, then -0.5 and \u22123", [0.1, 0.2, -0.5, -3.0]),
        (r"\frac{1}{2} or 1/4 of 2^{10}", [0.5, 0.25, 1024.0, 2.0]),
        (r"drawn from $\mathcal{N}(0, 0.5^2)$", [0.0, 0.25, 0.5]),
        (r"84.2 $\pm$ 0.4", [84.2, 0.4]),
        ("10⁻³ and .5", [1e-3, 0.5]),
        (r"$R^2$, $x^{2}$ and $e^{-j}$", []),
        ("#1b7fbd and 3x3 and 12ab3", [3.0]),
        ("9" * 400, []),
        ("1e99999 and 10^{99999} and 0^{-1}", []),
        ("2^{" + "9" * 5000 + "}", []),
        ("no numbers here", []),
    ],
)
def test_numbers_of_a_text(text: str, values: list[float]) -> None:
    found = [one.value for one in quantities(text)]
    assert len(found) == len(values)
    assert all(near(one, other) for one, other in zip(found, values, strict=True))


@pytest.mark.parametrize(
    ("text", "value", "there"),
    [
        ("dropout of 10%", "0.1", True),
        ("trained for twelve epochs", "12", True),
        ("a batch of 64", "64 examples", True),
        ("a batch of 640", "64", False),
        ("the AdamW optimiser", "adam w", True),
        ("uses ResNet-18", "ResNet-18", True),
        ("anything", "  ", False),
        ("lr 1.5", "15", False),
    ],
)
def test_a_value_in_a_text(text: str, value: str, there: bool) -> None:
    assert states(text, value) is there


def test_a_list_or_a_name_is_no_single_number() -> None:
    assert as_quantity("0.9, 0.999") is None
    assert as_quantity("ResNet-18") is None
    assert as_quantity("1/K") is None
    assert as_quantity("2^{-j}") is None
    assert as_quantity("one vector of K probabilities") is None
    assert as_quantity("64 hidden units") is not None
    power = as_quantity("2^{10}")
    assert power is not None
    assert power.value == 1024


@given(st.floats(min_value=1e-8, max_value=1e8, allow_nan=False))
def test_a_number_is_read_as_python_writes_it(value: float) -> None:
    found = as_quantity(repr(value))
    assert found is not None
    assert near(found.value, value)


@given(st.text(max_size=200))
def test_any_text_can_be_read(text: str) -> None:
    assert all(one.written for one in quantities(text))
