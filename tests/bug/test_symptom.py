"""What a symptom demands, and when the report itself says so."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError

from reenact.bug.report import taxonomy_classes
from reenact.bug.symptom import Explicit, Symptom
from reenact.claims.check import Check, Relation
from reenact.settings import field_texts


def explicit(
    name: str = "RuntimeError",
    message: str = "shapes * cannot be multiplied",
    **more: Any,
) -> Symptom:
    sentence = Explicit(exception=name, message=message, **more)
    return Symptom(kind="explicit", sign="crash", words="w", explicit=sentence)


@pytest.mark.parametrize(
    ("classes_", "message", "fits"),
    [
        (
            ["RuntimeError", "Exception"],
            "mat1 and mat2 shapes (1x2 and 3x4)\n cannot be multiplied",
            True,
        ),
        (["OutOfMemoryError", "RuntimeError"], "Shapes cannot be multiplied", True),
        (["RuntimeError"], "cannot be multiplied shapes", False),
        (["ValueError"], "shapes 1 cannot be multiplied", False),
    ],
)
def test_exception_fits(classes_: list[str], message: str, fits: bool) -> None:
    sentence = explicit("torch.RuntimeError").explicit
    assert sentence is not None
    assert sentence.fits(classes_, message) is fits


@pytest.mark.parametrize(
    ("symptom", "report", "grounded"),
    [
        (explicit(), "RuntimeError: mat1 shapes (2x3) cannot be  multiplied", True),
        (explicit(), "It says shapes cannot be multiplied", False),
        (explicit(), "RuntimeError: something else", False),
        (explicit(message="*"), "RuntimeError: shapes", False),
        (explicit(message="a * b"), "RuntimeError: a b", False),
    ],
)
def test_grounded_in_the_report(symptom: Symptom, report: str, grounded: bool) -> None:
    assert symptom.grounded(report) is grounded


def test_functions_count_only_when_the_report_names_them() -> None:
    symptom = explicit(functions=["Net.forward", "invented"])
    assert symptom.functions_in('File "net.py", line 3, in forward') == ("forward",)


@pytest.mark.parametrize("name", ["Exception", "builtins.Exception", "Error", "SystemExit"])
def test_an_exception_that_covers_everything_is_none(name: str) -> None:
    with pytest.raises(ValidationError, match="covers everything"):
        Explicit(exception=name)


@pytest.mark.parametrize(
    "wrong",
    [
        {"relation": "above"},
        {"relation": "warns", "text": "x"},
        {"relation": "near"},
        {"relation": "vanishes"},
    ],
)
def test_incomplete_check(wrong: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        Check.model_validate(wrong)


def test_symptom_has_what_its_kind_needs() -> None:
    for kind in ("explicit", "silent"):
        with pytest.raises(ValidationError, match="needs"):
            Symptom.model_validate({"kind": kind, "sign": "crash", "words": "w"})


def test_every_relation_and_class_is_explained() -> None:
    assert set(field_texts(Relation)) == set(Relation.__members__)
    assert "crash" in taxonomy_classes("symptom")
    assert all(taxonomy_classes("fault").values())
