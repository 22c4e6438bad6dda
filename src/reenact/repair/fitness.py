"""Can this program be repaired by training it? Each reason why not has its own sentence."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from reenact.diagnose.attempts import Attempts
from reenact.diagnose.diagnosis import Diagnosis
from reenact.errors import InputError
from reenact.probe.outcome import Outcome, OutcomeKind
from reenact.probe.trace import Trace
from reenact.program.knobs import knobs_of
from reenact.trials.trial import Trial

SAME = 1e-6
"""Relative difference that arithmetic in another order may make."""
AGAIN = 0.001
"""Seconds that tell a second training with the same seed from the first."""


def fit_for_repair(found: Diagnosis) -> Trace:
    """The trace of its training; raises InputError when there is none, or nothing to change."""
    evidence = found.evidence
    program, outcome = evidence.program, evidence.outcome
    assert program is not None
    if outcome is not None and outcome.crash is not None:
        raise InputError(
            f"This program crashes, so no training can be compared. {outcome.sentence}",
            next_step=f"reenact diagnose {program.entry} names the cause.",
        )
    if evidence.trace is None or not evidence.trace.step_count:
        raise InputError(_did_not_train(outcome), next_step=f"reenact watch {program.entry} shows the run.")
    if not any(knob.changeable and knob.alternatives for knob in knobs_of(program)):
        raise InputError(
            "Nothing in this program can be changed by reenact: it finds no hyper-parameter in the source.",
            next_step=f"reenact knobs {program.entry} lists what was found, and why it cannot be changed.",
        )
    return evidence.trace


def _did_not_train(outcome: Outcome | None) -> str:
    said = outcome.sentence if outcome is not None else ""
    if outcome is not None and outcome.kind is OutcomeKind.KILLED:
        return f"The program was ended from outside, as it is when memory does not suffice. {said}"
    return f"This program made no training step that could be seen. {said}".strip()


def not_the_same_twice(attempts: Attempts, first: Trial) -> Iterator[str]:
    """A note when a training that was done already comes out differently when it is done again."""
    assert first.budget.seconds is not None
    budget = replace(first.budget, seconds=first.budget.seconds + AGAIN)
    again = replace(first, budget=budget)
    one, two = (attempts.value(outcome) for outcome in attempts.outcomes([first, again]))
    if one != two and abs(one - two) > SAME * max(abs(one), abs(two)):
        yield (
            f"The metric is not the same twice for one seed ({abs(one):.4g} and {abs(two):.4g}):"
            " something in the program is left to chance that no seed sets."
        )
