"""Every shipped case is verified by its own oracle: fail to pass over two seeds, in the sandbox."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from benchmarks.bugs.cases import BugCase, load_cases
from benchmarks.bugs.oracle import COULD_NOT_RUN, run_oracle, verify
from reenact.bug.reproduction import Verdict
from reenact.sandbox.box import Sandbox
from reenact.sandbox.choose import choose

pytestmark = pytest.mark.slow

CASES = load_cases()


@pytest.fixture(scope="module")
def sandbox() -> Sandbox:
    # The cases are our own, so where no sandbox works they may run without one.
    return choose(trust_code=True)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.id)
def test_the_oracle_confirms_the_true_verdict(case: BugCase, sandbox: Sandbox) -> None:
    buggy, *fixed = verify(case, sandbox)
    if case.expected is Verdict.REPRODUCED:
        assert buggy.always, buggy.output
        assert [shown.never for shown in fixed] == [True], buggy.output
    else:
        assert buggy.never, buggy.output
        assert fixed == []


@pytest.mark.parametrize(
    ("oracle", "code"),
    [
        ("raise RuntimeError('the oracle itself is broken')", COULD_NOT_RUN),
        ("import os; os.kill(os.getpid(), 9)", COULD_NOT_RUN),
        ("import sys; sys.exit('words are no code')", COULD_NOT_RUN),
        ("import not_installed_anywhere", COULD_NOT_RUN),
        ("import abacusnet", 0),
        ("import sys; sys.exit(int(sys.argv[1]) == 7)", 1),
        ("open('codes.json', 'w').write('[[1, 1]]')", 0),
    ],
    ids=[
        "raises",
        "dies",
        "words",
        "missing",
        "says nothing",
        "reads its seed",
        "forges",
    ],
)
def test_what_an_oracle_may_end_with(
    oracle: str, code: int, sandbox: Sandbox, tmp_path: Path
) -> None:
    shipped = next(case for case in CASES if case.packages == ("numpy",))
    folder = tmp_path / shipped.id
    shutil.copytree(shipped.folder, folder)
    (folder / "oracle.py").write_text(oracle)
    (case,) = load_cases(tmp_path)
    shown = run_oracle(case, case.buggy, sandbox, seeds=(7,))
    assert set(shown.codes.values()) == {code}, shown.output
    assert shown.revision == case.buggy
