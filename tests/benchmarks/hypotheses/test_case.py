"""The cases of `python -m benchmarks hypotheses`: complete, distinct, and fit to be tested."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from benchmarks.hypotheses.case import (
    CHECK,
    EDIT,
    PROGRAM,
    ClaimCase,
    Effect,
    TrueClaim,
    Truth,
    WrongClaim,
    catalogue,
    read_case,
)
from reenact.claims import gates
from reenact.claims.check import Check
from reenact.claims.claim import Claim
from reenact.claims.edit import patch_of_diff
from reenact.errors import InputError
from reenact.program.program import read_program

CASES = catalogue()
LINES = range(25, 121)
"""Of a program."""


def _named(case: ClaimCase) -> str:
    return case.id


def test_there_are_enough_of_both_kinds_and_they_are_of_many_domains() -> None:
    wrong = [case for case in CASES if case.truth is Truth.WRONG]
    true = [case for case in CASES if isinstance(case, TrueClaim)]

    assert len(wrong) >= 28
    assert len(true) >= 12
    assert len({case.domain for case in wrong}) >= 15
    assert {case.about for case in wrong} >= {"training", "evaluation", "leak"}
    assert {case.effect for case in true} == set(Effect)
    assert len({case.says for case in CASES}) == len(CASES)


@pytest.mark.parametrize("case", CASES, ids=_named)
def test_every_case_is_python_whose_diffs_apply_and_whose_check_may_be_run(case: ClaimCase) -> None:
    text = (case.folder / PROGRAM).read_text(encoding="utf-8")
    ast.parse(text)
    assert len(text.splitlines()) in LINES
    program = read_program([str(case.folder / PROGRAM)])
    patches = [
        patch_of_diff(file.read_text(encoding="utf-8"), program)
        for file in (case.folder / EDIT, case.second)
        if file is not None
    ]
    changed = {patch.apply(program).script() for patch in patches}
    for one in changed:
        ast.parse(one)
    assert program.script() not in changed
    # Whoever saw a wrong claim alone may have made the very same edit.
    assert len(changed) == len(patches) or isinstance(case, WrongClaim)

    check = Check.read(case.shows, case.tolerance)
    script = (case.folder / CHECK).read_text(encoding="utf-8")
    claim = Claim(case.says, patches[0], script, check, case.about, case.expects)
    assert gates.read(claim, program).failed is None


@pytest.mark.parametrize("case", CASES, ids=_named)
def test_a_case_says_what_is_known_of_it_and_has_a_second_fix(case: ClaimCase) -> None:
    assert case.second is not None
    if isinstance(case, WrongClaim):
        assert case.why_wrong.endswith(".")
    else:
        assert isinstance(case, TrueClaim)
        assert case.fault


@pytest.mark.parametrize(
    ("facts", "words"),
    [
        ('says = "x"', "is not a case"),
        (
            'says = "x"\nshows = "same"\nabout = "nothing"\nexpects = "better"\ndomain = "x"',
            "is not a case",
        ),
        (
            'says = "x"\nshows = "same"\nabout = "leak"\nexpects = "better"\ndomain = "x"',
            "it has no train.py, check.py, fix.diff",
        ),
    ],
)
def test_a_case_that_is_not_well_formed_is_named(tmp_path: Path, facts: str, words: str) -> None:
    folder = tmp_path / "wrong" / "strange"
    folder.mkdir(parents=True)
    (folder / "claim.toml").write_text(facts)

    with pytest.raises(InputError, match=words) as refused:
        read_case(folder)
    assert "wrong/strange" in str(refused.value)


def test_a_word_that_names_no_case_is_refused_with_those_that_do() -> None:
    with pytest.raises(InputError, match="nothing-like-it") as refused:
        catalogue(["nothing-like-it"])

    assert "wrong/rate-peak" in refused.value.next_step
    assert [case.id for case in catalogue(["rate-peak"])] == ["wrong/rate-peak"]
    assert {case.truth for case in catalogue(kind="true")} == {Truth.TRUE}
