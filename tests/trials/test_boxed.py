"""Trials of programs from elsewhere run in the sandbox, on patched copies."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from contracts.executor import HEALTHY, STEPS, fingerprint, patch_setting, program_in
from reenact.errors import SandboxUnavailable
from reenact.probe.outcome import OutcomeKind
from reenact.program.hyperparameter import Kind
from reenact.program.program import read_program
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


@pytest.mark.skipif(_no_sandbox(), reason="no sandbox works on this machine")
def test_trainings_that_share_a_box_do_not_see_each_other(
    pool: ProcessPool, tmp_path: Path
) -> None:
    """Each finds the folder as it was, and comes to what it would come to alone."""
    marks = """\
from pathlib import Path

assert not Path("mark").exists(), "an earlier training left this"
assert Path("data.txt").read_text() == "1"
Path("mark").touch()
Path("data.txt").write_text("2")
"""
    seeded = HEALTHY.replace("torch.manual_seed(7)", "")
    program = program_in(tmp_path / "p", marks + seeded)
    (tmp_path / "p" / "data.txt").write_text("1")
    trials = [Trial(program, seed=seed) for seed in (1, 2, 3)]

    with Boxed(python=sys.executable) as boxed:
        together = boxed.run(trials)
        (alone,) = boxed.run(trials[1:2])

    assert [one.kind for one in together] == [OutcomeKind.FINISHED] * 3, together
    assert together[1].metrics == alone.metrics
    assert len({str(one.metrics) for one in together}) == 3, "each has its own seed"


@pytest.mark.skipif(_no_sandbox(), reason="no sandbox works on this machine")
def test_a_script_named_by_its_whole_path_is_trained(tmp_path: Path) -> None:
    program_in(tmp_path / "p", HEALTHY)
    script = str(tmp_path / "p" / "train.py")
    for words in ([script], [script, "--quiet"]):
        program = read_program(words, tmp_path / "p")
        with Boxed(python=sys.executable) as boxed:
            (outcome,) = boxed.run([Trial(program)])
        assert (outcome.kind, outcome.steps) == (OutcomeKind.FINISHED, STEPS), outcome


@pytest.mark.skipif(_no_sandbox(), reason="no sandbox works on this machine")
def test_one_that_ends_the_box_does_not_take_the_others_along(tmp_path: Path) -> None:
    """A training that kills the process that serves it is one that was killed; the rest is run."""
    killer = """\
import os, random, signal
import torch
if torch.initial_seed() == 2:
    os.kill(os.getppid(), signal.SIGTERM)
"""
    program = program_in(tmp_path / "p", killer + HEALTHY.replace("torch.manual_seed(7)", ""))
    trials = [Trial(program, seed=seed) for seed in (1, 2, 3)]

    with Boxed(python=sys.executable) as boxed:
        first, second, third = boxed.run(trials)

    assert (first.kind, third.kind) == (OutcomeKind.FINISHED, OutcomeKind.FINISHED)
    assert second.kind is not OutcomeKind.FINISHED
