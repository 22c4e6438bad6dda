"""Trials of programs from elsewhere run in the sandbox, on patched copies."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from contracts.executor import HEALTHY, STEPS, fingerprint, patch_setting, program_in
from reenact.errors import SandboxUnavailable
from reenact.probe.outcome import OutcomeKind
from reenact.program.hyperparameter import Kind
from reenact.sandbox.choose import choose
from reenact.trials.boxed import Boxed
from reenact.trials.pool import ProcessPool
from reenact.trials.trial import Trial, TrialLimits


def _no_sandbox() -> bool:
    try:
        choose()
    except SandboxUnavailable:
        return True
    return False


@pytest.mark.release
@pytest.mark.skipif(_no_sandbox(), reason="no sandbox works on this machine")
def test_a_boxed_trial_tells_what_the_pool_would_and_touches_nothing(
    pool: ProcessPool, tmp_path: Path
) -> None:
    outside = tmp_path / "outside.txt"
    attack = f"""\
try:
    open({str(outside)!r}, "w").write("I was here")
except OSError:
    print("kept in")
"""
    program = program_in(tmp_path / "p", HEALTHY + attack)
    other = program_in(tmp_path / "q", "print('nothing to set')")
    longer = patch_setting(program, Kind.EPOCHS, 4)
    before = fingerprint(tmp_path / "p")
    with Boxed(python=sys.executable) as boxed:
        patched, short, refused = boxed.run(
            [
                Trial(program, longer, seed=1),
                Trial(program, seed=1, limits=TrialLimits(steps=5)),
                Trial(other, longer),
            ]
        )
    assert not outside.exists()
    assert (patched.kind, patched.steps, patched.epochs) == (
        OutcomeKind.FINISHED,
        STEPS + 4,
        4,
    ), patched
    assert (short.kind, short.steps) == (OutcomeKind.STOPPED, 5), short
    assert refused.kind is OutcomeKind.NOT_STARTED
    assert fingerprint(tmp_path / "p") == before
    (plain,) = pool.run([Trial(program, longer, seed=1)])
    assert outside.exists(), "without the sandbox it could"
    assert patched.metrics == plain.metrics
