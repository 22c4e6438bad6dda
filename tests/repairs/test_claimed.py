"""Edits of tested claims: verified in the sandbox over fresh seeds, and a repair where they hold."""

from __future__ import annotations

import pytest

from reenact.claims.check import Check
from reenact.claims.claim import About, Claim
from reenact.claims.verdict import ClaimVerdict, Gate, GateName, MetricEffect, Moved
from reenact.program.edit.change import Rewrite
from reenact.program.patch import Patch
from reenact.repairs.claimed import verdict_of_claim
from reenact.repairs.verdict import Decision
from reenact.testing.strategy import search_context

pytestmark = pytest.mark.usefixtures("warm_python")

EDIT = Patch((Rewrite("train.py", "model(rows) * 0.001", "model(rows)"),))
PASSED = tuple(Gate(name, True) for name in (GateName.GREEN, GateName.SECOND, GateName.REFUTERS))


def verdict_on(about: About = About.TRAINING, effect: MetricEffect | None = None) -> ClaimVerdict:
    claim = Claim(
        "The loss sees the scores", EDIT, "observed = 1", Check(relation="differs"), about
    )
    return ClaimVerdict(claim, PASSED, effect=effect)


def effect(moved: Moved, after: float) -> MetricEffect:
    return MetricEffect(moved, "test_accuracy", (0.5,) * 6, (after,) * 6, 0.016)


@pytest.mark.parametrize(
    ("about", "moved", "after", "decision"),
    [
        (About.TRAINING, Moved.AS_EXPECTED, 0.97, Decision.REPAIRED),
        (About.TRAINING, Moved.AS_EXPECTED, 0.8, Decision.IMPROVED),
        (About.LEAK, Moved.AS_EXPECTED, 0.3, Decision.REPAIRED),
        (About.TRAINING, Moved.NOT, 0.5, None),
        (About.TRAINING, Moved.AGAINST, 0.2, None),
        (About.TRAINING, Moved.UNMEASURED, 0.5, None),
    ],
)
def test_what_the_effect_of_a_claim_comes_to(
    about: About, moved: Moved, after: float, decision: Decision | None
) -> None:
    judge = search_context(lambda values: 0.5).context.trainer
    found = verdict_of_claim(verdict_on(about, effect(moved, after)), judge)
    assert (found.decision if found is not None else None) is decision
    if found is not None:
        assert found.patch == EDIT
        assert found.after == (after,) * 6
