"""Agreement between judges, against values worked out by hand and properties that always hold."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reenact.errors import InputError
from reenact.paper.evaluate.people import (
    cohen_kappa,
    interval,
    krippendorff_alpha,
    nominal,
    pearson,
    read_panel,
)

YES, NO = "pass", "fail"
# 20 both yes, 15 both no, 5 and 10 apart: observed 0.7, by chance 0.5.
FIRST = [YES] * 20 + [YES] * 5 + [NO] * 10 + [NO] * 15
SECOND = [YES] * 20 + [NO] * 5 + [YES] * 10 + [NO] * 15


def test_kappa_of_a_table_worked_out_by_hand() -> None:
    assert cohen_kappa(FIRST, SECOND) == pytest.approx(0.4)


def test_alpha_of_krippendorffs_own_example() -> None:
    # Two observers, ten units: nominal alpha 0.095 (Krippendorff 2011, example A).
    first = [0, 1, 0, 0, 0, 0, 0, 0, 1, 0]
    second = [1, 1, 1, 0, 0, 1, 0, 0, 0, 0]
    table = [[float(a), float(b)] for a, b in zip(first, second, strict=True)]
    assert krippendorff_alpha(table, nominal) == pytest.approx(0.095, abs=5e-4)


def test_alpha_of_numbers_counts_how_far_they_are_apart() -> None:
    near = [[1.0, 1.1], [5.0, 5.1], [9.0, 9.1]]
    assert krippendorff_alpha(near, nominal) == pytest.approx(0.0)
    assert krippendorff_alpha(near, interval) == pytest.approx(1.0, abs=0.01)


def test_what_is_not_defined_is_none_and_not_zero() -> None:
    assert cohen_kappa([YES, YES], [YES, YES]) is None
    assert krippendorff_alpha([[YES, None], [None, NO]], nominal) is None
    assert pearson([(1.0, 1.0), (1.0, 2.0), (1.0, 3.0)]) is None
    assert pearson([(1.0, 1.0), (2.0, 2.0)]) is None


def test_silence_is_left_out() -> None:
    assert cohen_kappa([*FIRST, None, YES], [*SECOND, YES, None]) == pytest.approx(0.4)


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=3, max_size=30))
def test_order_of_judges_does_not_matter(pairs: list[tuple[int, int]]) -> None:
    first, second = [float(a) for a, _ in pairs], [float(b) for _, b in pairs]
    assert cohen_kappa(first, second) == pytest.approx(cohen_kappa(second, first))
    assert pearson(list(zip(first, second, strict=True))) == pytest.approx(
        pearson(list(zip(second, first, strict=True)))
    )
    swapped = [list(reversed(row)) for row in pairs]
    assert krippendorff_alpha(pairs, interval) == pytest.approx(
        krippendorff_alpha(swapped, interval)
    )


@given(st.lists(st.floats(-100, 100), min_size=3, max_size=20, unique=True))
def test_a_judge_agrees_with_itself(values: list[float]) -> None:
    assert cohen_kappa(values, values) == pytest.approx(1.0)
    assert krippendorff_alpha([[one, one] for one in values], interval) == pytest.approx(1.0)


def test_judgements_from_a_table(tmp_path: Path) -> None:
    file = tmp_path / "judges.csv"
    file.write_text("item,person,model\na,17,80\nb,12,61\nc,5,22\nd,9,cannot judge\n")
    panel = read_panel(file)
    (pair,) = panel.pairs
    assert (pair.first, pair.second, pair.n) == ("person", "model", 3)
    assert pair.pearson == pytest.approx(0.9955, abs=1e-3)
    assert panel.items == 4
    assert panel.alpha is not None, "ratings are numbers"


@pytest.mark.parametrize("text", ["", "item,one\na,1\n", "item,one,two\na,1\n"])
def test_tables_that_are_none_give_a_sentence(tmp_path: Path, text: str) -> None:
    file = tmp_path / "judges.csv"
    file.write_text(text)
    with pytest.raises(InputError):
        read_panel(file)
