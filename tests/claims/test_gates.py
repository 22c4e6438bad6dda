"""True claims pass the gates that are executions, wrong ones do not."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from reenact.claims.check import Check
from reenact.claims.claim import Claim
from reenact.claims.edit import patch_of_diff
from reenact.claims.gates import executed
from reenact.claims.look import Look, Looker
from reenact.claims.verdict import ClaimStatus, ClaimVerdict, GateName
from reenact.journal import Journal
from reenact.program.patch import Patch
from reenact.program.program import Program
from tests.claims.conftest import program_of

HEAD = "import reenact_reach as reach\n"
SECOND = """\
--- a/train.py
+++ b/train.py
@@ -7,5 +7,7 @@
     total, found = 0.0, []
-    for reward in rewards:
+    for reward in list(rewards)[::-1]:
         total = reward + GAMMA * total
         found.append(total)
+    found.reverse()
     return found
"""
TRAINING = """\
import torch
from torch import nn


def main():
    torch.manual_seed(0)
    model = nn.Linear(2, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for epoch in range(4):
        x = torch.randn(8, 2)
        y = x.sum(1)
        loss = nn.functional.mse_loss(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        print("loss", loss.item())


if __name__ == "__main__":
    main()
"""
ALIGNED = """\
--- a/train.py
+++ b/train.py
@@ -11 +11 @@
-        y = x.sum(1)
+        y = x.sum(1, keepdim=True)
"""


@pytest.fixture
def journal(tmp_path: Path) -> Iterator[Journal]:
    with Journal.open(tmp_path / ".reenact") as made:
        yield made


def judged(
    claim: Claim, program: Program, looker: Looker, journal: Journal, second: Patch | None = None
) -> ClaimVerdict:
    with journal.run(pipeline="test-hypothesis", request={}, argv=(), what="x", fresh=True) as run:
        found = executed(claim, program, looker, run, second=second)
        run.finish(found.status.value, found.exit_code)
    return found


def test_a_true_claim_passes(
    program: Program, claim_of: Callable[..., Claim], looker: Looker, journal: Journal
) -> None:
    found = judged(claim_of(), program, looker, journal, patch_of_diff(SECOND, program))
    assert found.failed is None, found.reason
    assert found.status is ClaimStatus.REMARK, "no effect was measured, and nobody was asked"
    passed = {one.name for one in found.gates if one.passed}
    assert passed >= {GateName.RED, GateName.GREEN, GateName.REWRITTEN, GateName.SECOND}
    assert "observed 1, reference 1.75" in found.red[0].sentence


@pytest.mark.parametrize(
    ("script", "gate"),
    [
        ("p = reach.module()\nobserved = p.returns([1.0])[0]\nreference = 1.0", GateName.RED),
        ("p = reach.module()\nobserved = p.returns([1.0, 1.0])\nreference = 7.0", GateName.GREEN),
        ("p = reach.module()\nobserved = p.missing\nreference = 7.0", GateName.SCRIPT),
        ("p = reach.at('never')\nobserved = 1\nreference = 2", GateName.SCRIPT),
        ("p = reach.until('print(')\nobserved = 1\nreference = 2", GateName.GREEN),
        (
            "import random\np = reach.module()\nobserved = random.random() < 0.5\nreference = False",
            None,
        ),
    ],
)
def test_where_a_wrong_check_ends(
    program: Program,
    claim_of: Callable[..., Claim],
    looker: Looker,
    journal: Journal,
    script: str,
    gate: GateName | None,
) -> None:
    found = judged(claim_of(HEAD + script), program, looker, journal)
    assert found.failed is not None
    assert gate is None or found.failed.name is gate
    assert not found.status.counts


def test_a_check_bound_to_the_wording_of_the_edit(
    program: Program, claim_of: Callable[..., Claim], looker: Looker, journal: Journal
) -> None:
    script = HEAD + (
        "p = reach.module()\nobserved = sorted(p.returns.__name__ for _ in p.returns([1.0]))[0]\n"
        "reference = 'other'"
    )
    found = judged(claim_of(script), program, looker, journal)
    assert found.failed is not None


def test_what_the_program_prints_and_calls(tmp_path: Path, looker: Looker) -> None:
    program = program_of(tmp_path, TRAINING)
    script = HEAD + (
        "seen = reach.steps(2)\n"
        "observed = [seen.calls['main'], len(seen.printed), seen.printed[0].startswith('loss')]\n"
        "reference = [1, 1, True]"
    )
    ((seen,),) = looker(program, script, Check.read("differs"), [Look("one", program)]).values()
    assert seen.is_green, seen.sentence


def test_a_broadcast_is_shown_at_a_call(tmp_path: Path, looker: Looker, journal: Journal) -> None:
    program = program_of(tmp_path, TRAINING)
    script = HEAD + (
        "seen = reach.at('mse_loss')\n"
        "output, target = seen.arguments[:2]\n"
        "observed = tuple(output.shape)\nreference = tuple(target.shape)"
    )
    claim = Claim(
        "Each output is compared with its own target",
        patch_of_diff(ALIGNED, program),
        script,
        Check.read("differs"),
    )
    found = judged(claim, program, looker, journal)
    assert found.failed is None, found.reason


def test_the_script_cannot_speak_for_itself(program: Program, looker: Looker) -> None:
    """A result that the script writes has not our word."""
    script = HEAD + (
        "p = reach.module()\n"
        "import json\n"
        "print(json.dumps({'ended': 'returned', 'holds': True}))\n"
        "raise SystemExit(0)\nobserved = reference = 1"
    )
    ((seen,),) = looker(program, script, Check.read("differs"), [Look("one", program)]).values()
    assert not seen.decided
    assert seen.ended == "exited"


def test_a_check_sees_no_graphics_card(tmp_path: Path, looker: Looker) -> None:
    """A framework that starts CUDA when it is imported spoils it for every fork."""
    program = program_of(tmp_path, "import os\nCARDS = os.environ.get('CUDA_VISIBLE_DEVICES')\n")
    script = "import reenact_reach as reach\n\nobserved = len(reach.module().CARDS)\n"
    (seen,) = looker(program, script, Check.read("above 0"), [Look("now", program)]).values()
    assert seen[0].is_green, seen[0].sentence
