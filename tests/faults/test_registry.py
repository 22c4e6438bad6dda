"""Faults and detectors as a list: codes, names and families, and what a word selects."""

from __future__ import annotations

from types import ModuleType

import pytest

from reenact.errors import InputError
from reenact.faults import registry
from reenact.faults.detector import Detector, Needs
from reenact.faults.entry import Category
from reenact.faults.families import FAMILIES
from reenact.faults.registry import (
    all_detectors,
    all_faults,
    check_words,
    chosen,
    detector,
    detectors_of,
    fault,
)

LETTERS = {
    Category.OPTIMISATION: "OP",
    Category.DATA: "DA",
    Category.LABELS: "LA",
    Category.OUTPUT: "OU",
    Category.LAYERS: "LY",
    Category.EVALUATION: "EV",
    Category.SEQUENCE: "SQ",
    Category.NUMERICS: "NU",
    Category.CRASH: "CR",
}
EARLIER = ("deeplocalize", "deepdiagnosis")
"""Families with many detectors of one fault, left out for a short list."""


def once(words: list[str]) -> bool:
    return sorted(set(words)) == sorted(words)


def test_codes_and_names_are_used_once() -> None:
    assert once([one.code for one in all_detectors()] + [one.code for one in all_faults()])
    assert once([one.name for one in all_detectors()])
    assert once([one.name for one in all_faults()])


@pytest.mark.parametrize("one", all_detectors(), ids=lambda one: one.code)
def test_the_code_of_a_detector_says_its_family(one: Detector) -> None:
    assert one.code[:2] == FAMILIES[one.family].letters
    assert one.code[2:].isdigit()
    assert len(one.code) == 5


def test_the_code_of_a_fault_says_its_category() -> None:
    odd = [
        one.code
        for one in all_faults()
        if one.code[:2] != LETTERS[one.category] or len(one.code) != 4
    ]
    assert odd == []
    assert set(LETTERS.values()).isdisjoint(family.letters for family in FAMILIES.values())


def test_a_fault_is_the_file_of_its_name_in_the_folder_of_its_category() -> None:
    for one in all_faults():
        place = f"reenact.faults.{one.category.value}.{one.name.replace('-', '_')}"
        assert {own.look.__module__ for own in detectors_of(one)} == {place}
        assert one.page.startswith(f"{one.code} {one.name}\n")


def test_every_detector_says_where_it_comes_from() -> None:
    assert [one.code for one in all_detectors() if not one.doc or not one.why.endswith(".")] == []


@pytest.mark.parametrize(
    ("words", "codes"),
    [
        (("UM005",), ["UM005"]),
        (("learning-rate-high",), ["UM005"]),
        (("OP01",), ["AT004", "TC005", "TC011", "UM005"]),
        (("learning-rate-too-high",), ["AT004", "TC005", "TC011", "UM005"]),
        (
            ("numerics", "op05"),
            [
                *(one.code for one in all_detectors() if one.code == "RE010"),
                "RE045",
                "RE057",
                "RE102",
            ],
        ),
    ],
    ids=[
        "code of a detector",
        "name of a detector",
        "code of a fault",
        "name of a fault",
        "two words",
    ],
)
def test_a_word_selects(words: tuple[str, ...], codes: list[str]) -> None:
    assert [one.code for one in chosen(words) if one.family not in EARLIER] == codes


def test_a_family_is_selected_by_its_name_and_by_its_letters() -> None:
    named = chosen(("umlaut",))
    assert named == chosen(("UM",))
    assert {one.family for one in named} == {"umlaut"}


def test_what_is_ignored_is_left_out() -> None:
    left = chosen(ignore=("learning-rate-too-high",))
    assert [one.code for one in chosen() if one not in left] == [
        "AT004",
        "TC005",
        "TC011",
        "UM005",
    ]


def test_a_fault_and_a_detector_are_found_by_code_and_name() -> None:
    assert fault("ou02") is fault("Softmax-before-cross-entropy") is detector("RE002").fault
    assert fault("RE002") is None
    assert detector("softmax-twice") is detector(" re002")
    with pytest.raises(InputError, match="no detector of that code"):
        detector("OU02")


def test_a_word_that_names_nothing_is_refused_with_what_is_close() -> None:
    with pytest.raises(InputError) as refused:
        check_words(("umlaut", "softmax-before-crossentropy"))
    assert "Did you mean softmax-before-cross-entropy" in refused.value.next_step


def test_a_module_of_another_package_gives_its_own_detectors_alone() -> None:
    module = ModuleType("lab_faults")
    vars(module)["borrowed"] = detector("RE010")
    assert registry.detectors_in(module) == ()


def test_what_does_not_balance_in_the_books_is_a_cause() -> None:
    of_books = [one for one in all_detectors() if Needs.ACCOUNTS in one.needs]
    assert len(of_books) > 20
    assert [one.code for one in of_books if not one.is_root_cause and one.study is None] == []
