"""What a check may do, and what restates the edit."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from reenact.claims.check import Check
from reenact.claims.claim import Claim
from reenact.claims.restated import restated, written
from reenact.claims.script import objections
from reenact.program.program import Program
from tests.claims.conftest import CHECK

HEAD = "import reenact_reach as reach\nprogram = reach.module()\n"
RATE = "--- a/train.py\n+++ b/train.py\n@@ -2 +2 @@\n-GAMMA = 0.5\n+GAMMA = 0.9\n"


def test_a_plain_check_may_run() -> None:
    assert objections(CHECK, Check.read("differs")) == ()


@pytest.mark.parametrize(
    ("script", "says"),
    [
        ("observed = reference = 1", "does not reach"),
        (HEAD + "observed = 1", "`reference`"),
        ("import inspect\n" + HEAD + "observed = reference = 1", "`inspect`"),
        (HEAD + "observed = open('train.py').read()\nreference = ''", "`open`"),
        (HEAD + "observed = hasattr(program, 'x')\nreference = 1", "`hasattr`"),
        (HEAD + "observed = program.returns.__code__\nreference = 1", "__code__"),
        (HEAD + "program.returns = max\nobserved = reference = 1", "from outside"),
        (HEAD + "reach.setup.later = 1\nobserved = reference = 1", "reach.setup"),
        (HEAD + "try:\n    observed = 1\nexcept ValueError:\n    reference = 1", "catch"),
        ("from reenact_reach import setup\nobserved = reference = setup", "not `setup`"),
        (HEAD + "observed = reference = '../other/train.txt'", "files outside"),
        (HEAD + "observed = (", "does not parse"),
        (HEAD + "x = 1\n" * 80 + "observed = reference = 1", "at most 80 lines"),
    ],
)
def test_what_it_may_not_do(script: str, says: str) -> None:
    found = " ".join(one.sentence for one in objections(script, Check.read("differs")))
    assert says in found


def test_what_is_named_like_ours_is_the_programs() -> None:
    script = HEAD + (
        "program.data.setup('fit')\n"
        "observed = [isinstance(one, int) for one in program.returns([1.0])]\nreference = [True]"
    )
    assert objections(script, Check.read("differs")) == ()


def test_a_number_is_no_reference() -> None:
    assert objections(HEAD + "observed = 1", Check.read("above 0.5")) == ()


@pytest.mark.parametrize(
    "script",
    [
        HEAD + "observed = program.GAMMA\nreference = 0.9",
        HEAD + "observed = vars_of['GAMMA']\nreference = 0.9",
    ],
)
def test_reading_what_the_edit_writes_restates_it(
    program: Program, claim_of: Callable[..., Claim], script: str
) -> None:
    assert "`GAMMA`" in restated(claim_of(script, RATE), program)
    assert restated(claim_of(script), program) == ""


def test_numbers_that_the_edit_writes(program: Program, claim_of: Callable[..., Claim]) -> None:
    patched = claim_of(diff=RATE).patch.apply(program)
    assert written(program, patched) == (frozenset({0.5}), frozenset({0.9}))


def test_a_reference_by_the_edited_function_alone(
    program: Program, claim_of: Callable[..., Claim]
) -> None:
    own = HEAD + "observed = [1.75, 1.5, 1.0]\nreference = program.returns([1.0, 1.0, 1.0])"
    twin = (
        HEAD
        + "observed = program.returns([1.0, 2.0])[0]\nreference = program.returns([2.0, 2.0])[0]"
    )
    assert "`returns`" in restated(claim_of(own), program)
    assert restated(claim_of(twin), program) == ""
    assert restated(claim_of(), program) == ""


def test_the_same_words_as_the_edit(program: Program, claim_of: Callable[..., Claim]) -> None:
    diff = (
        "--- a/train.py\n+++ b/train.py\n@@ -9 +9 @@\n"
        "-        total = reward + GAMMA * total\n"
        "+        total = max(min(reward + GAMMA * total, 10.0 * reward), 0.1 * reward)\n"
    )
    same = HEAD + (
        "a = b = c = 1.0\nobserved = program.returns([1.0])\n"
        "reference = max(min(a + b * c, 10.0 * a), 0.1 * a)"
    )
    assert "in the same words" in restated(claim_of(same, diff), program)
    assert restated(claim_of(CHECK, diff), program) == ""
