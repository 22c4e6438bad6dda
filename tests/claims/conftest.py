"""Programs, claims about them, and a looker in the real sandbox."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from reenact.claims.check import Check
from reenact.claims.claim import Claim
from reenact.claims.edit import patch_of_diff
from reenact.claims.look import Looker
from reenact.program.program import Program, read_program
from reenact.sandbox.choose import choose

RETURNS = '''\
"""Discounted returns."""
GAMMA = 0.5


def returns(rewards):
    # The last step first.
    total, found = 0.0, []
    for reward in rewards:
        total = reward + GAMMA * total
        found.append(total)
    return found


def main():
    print("returns", returns([1.0, 1.0, 1.0]))


if __name__ == "__main__":
    main()
'''
FIX = """\
--- a/train.py
+++ b/train.py
@@ -7,5 +7,5 @@
     total, found = 0.0, []
-    for reward in rewards:
+    for reward in reversed(rewards):
         total = reward + GAMMA * total
-        found.append(total)
+        found.insert(0, total)
     return found
"""
CHECK = """\
import reenact_reach as reach

program = reach.module()
found = program.returns([1.0, 1.0, 1.0])
observed = found[0]
reference = 1.0 + 0.5 + 0.25
"""


@pytest.fixture
def program(tmp_path: Path) -> Program:
    """The program of the returns."""
    return program_of(tmp_path, RETURNS)


def program_of(folder: Path, text: str) -> Program:
    """A program of one file."""
    (folder / "train.py").write_text(text)
    return read_program(["train.py"], folder)


@pytest.fixture
def claim_of(program: Program) -> Callable[..., Claim]:
    """A claim about it, by default the true one."""

    def make(script: str = CHECK, diff: str = FIX, shows: str = "differs") -> Claim:
        patch = patch_of_diff(diff, program)
        return Claim("The first step has the most to come", patch, script, Check.read(shows))

    return make


@pytest.fixture(scope="session")
def looker() -> Looker:
    """Looks in the sandbox of this machine."""
    return Looker(choose())
