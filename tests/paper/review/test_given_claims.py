"""Claims of the user: read from a sentence, compared as a bound or as a number."""

from __future__ import annotations

from pathlib import Path

import pytest

from reenact.api.papers import _claims
from reenact.errors import InputError
from reenact.paper.measure.gap import Comparison, Match, compare
from reenact.paper.measure.runs import FullRun
from reenact.paper.measure.verdict import orderings
from reenact.paper.review.claims import given_claims


def beside(text: str, *measured: float) -> Comparison:
    runs = [
        FullRun(seed, True, {"m": got}, "", 1.0, 1.0, 1.0, "") for seed, got in enumerate(measured)
    ]
    (one,) = compare(given_claims([text]), runs, [Match(claim="G1", metric="m")])
    return one


def test_a_claim_is_read_from_a_sentence() -> None:
    (one,) = given_claims(["test accuracy of  Slow Slopes on  two moons >= 97.5 %"])

    assert (one.id, one.metric, one.method, one.dataset) == (
        "G1",
        "test accuracy",
        "Slow Slopes",
        "two moons",
    )
    assert (one.value, one.unit, one.bound, one.higher_is_better, one.asked) == (
        97.5,
        "%",
        ">",
        True,
        True,
    )


def test_without_data_and_with_an_exponent() -> None:
    (one,) = given_claims(["validation loss of ours = 1.5e-3"])

    assert (one.dataset, one.value, one.bound, one.higher_is_better) == (
        "",
        0.0015,
        "",
        False,
    )


@pytest.mark.parametrize(
    "text",
    ["", "accuracy > 0.9", "accuracy of ours on data", "of ours > 3", "a of b > x"],
)
def test_anything_else_is_refused_with_the_form(text: str) -> None:
    with pytest.raises(InputError, match="Expected: METRIC of METHOD"):
        given_claims([text])


@pytest.mark.parametrize(
    ("text", "got", "holds"),
    [
        ("accuracy of ours on data > 0.9", (0.95, 0.93), True),
        ("accuracy of ours on data > 0.9", (0.89, 0.88), False),
        ("accuracy of ours on data > 90 %", (0.95, 0.93), True),
        ("loss of ours on data < 0.1", (0.02, 0.03), True),
        ("loss of ours on data < 0.1", (0.4, 0.3), False),
        ("accuracy of ours on data = 0.9", (0.91, 0.9), True),
        ("accuracy of ours on data = 0.9", (0.99, 0.99), False),
    ],
)
def test_a_bound_holds_beyond_it_and_a_number_near_it(
    text: str, got: tuple[float, ...], holds: bool
) -> None:
    one = beside(text, *got)

    assert one.holds is holds
    assert (one.gap == 0) is (holds and one.claim.bound != "")


def test_bounds_state_no_ordering() -> None:
    claims = given_claims(["accuracy of ours on data > 0.9", "accuracy of plain on data > 0.5"])

    assert orderings(compare(claims, (), ())) == ()


def test_a_file_has_one_on_each_line(tmp_path: Path) -> None:
    file = tmp_path / "claims.txt"
    file.write_text("# from figure 2\naccuracy of ours on data > 0.9\n\nloss of ours < 1\n")

    assert _claims([f"@{file}", "mae of ours < 2"]) == (
        "accuracy of ours on data > 0.9",
        "loss of ours < 1",
        "mae of ours < 2",
    )
