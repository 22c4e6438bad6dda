"""Can this program be repaired by training it? Each reason why not has its own sentence."""

from __future__ import annotations

from collections.abc import Iterator

from reenact.diagnosis.attempts import Attempts
from reenact.diagnosis.diagnosis import Diagnosis
from reenact.diagnosis.judgement import why_unjudged
from reenact.errors import Inconclusive, InputError
from reenact.probe.outcome import OutcomeKind
from reenact.probe.trace import Trace
from reenact.program.knobs import knobs_of
from reenact.trials.trial import Trial

SAME = 1e-6
"""Relative difference that arithmetic in another order may make."""


def fit_for_repair(found: Diagnosis) -> Trace:
    """The trace of its training; raises Inconclusive when there is none that came to its end, InputError when
    nothing can be changed."""
    evidence = found.evidence
    program, outcome = evidence.program, evidence.outcome
    assert program is not None
    if outcome is not None and outcome.crash is not None:
        raise Inconclusive(
            "Nothing could be judged: this program crashes, so no training can be compared."
            f" {outcome.sentence}",
            next_step=f"reenact diagnose {program.entry} names the cause.",
        )
    if outcome is not None and outcome.kind is OutcomeKind.TIMEOUT:
        raise Inconclusive(
            f"Not decided: no training came to its end, so none can be compared. {outcome.sentence}",
            next_step="Give a larger --max-time or --training-time, or train for fewer epochs.",
        )
    if evidence.trace is None or not evidence.trace.step_count:
        raise Inconclusive(_did_not_train(found), next_step=f"reenact watch {program.entry} shows the run.")
    if not any(knob.changeable and knob.alternatives for knob in knobs_of(program)):
        raise InputError(
            "Nothing in this program can be changed by reenact: it finds no hyper-parameter in the source.",
            next_step=f"reenact knobs {program.entry} lists what was found, and why it cannot be changed.",
        )
    return evidence.trace


def _did_not_train(found: Diagnosis) -> str:
    outcome = found.evidence.outcome
    why = why_unjudged(found.evidence, found.depth) or "no training step was seen"
    if outcome is not None and outcome.kind is OutcomeKind.KILLED:
        return f"Nothing could be judged: {why}. Programs are ended so when memory does not suffice."
    return f"Nothing could be judged: {why}."


def not_the_same_twice(attempts: Attempts, first: Trial) -> Iterator[str]:
    """A note when a training that was done already comes out differently when it is done again."""
    (one,) = (attempts.value(outcome) for outcome in attempts.outcomes([first]))
    (two,) = (attempts.value(outcome) for outcome in attempts.outcomes([first], again=True))
    if one != two and abs(one - two) > SAME * max(abs(one), abs(two)):
        yield (
            f"The metric is not the same twice for one seed ({abs(one):.4g} and {abs(two):.4g}):"
            " something in the program is left to chance that no seed sets."
        )
