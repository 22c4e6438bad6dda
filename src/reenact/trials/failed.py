"""Why a training has no value of the metric that judges, in words."""

from __future__ import annotations

from collections.abc import Mapping

from reenact.probe.outcome import OutcomeKind
from reenact.trials.metric import Measure
from reenact.trials.trial import Outcome

LONGEST = 160
"""Characters of the message of an exception."""


def why_failed(outcome: Outcome, measure: Measure) -> str:
    """The reason, and what can be done, as the rest of a sentence; empty where there is a value."""
    if not outcome.trained:
        return _ending(outcome)
    if outcome.stopped:
        return f"it was given up: {outcome.stopped}"
    value = outcome.metrics.get(measure.name)
    if value is None:
        logged = ", ".join(sorted(outcome.sources)) or "nothing"
        return f"it logs no {measure.name} (it logs {logged}; --metric NAME chooses)"
    if measure.read(outcome) is None or abs(value) == float("inf"):
        return f"it trains, and its {measure.name} is {value}, which is not a number to compare"
    return ""


def _ending(outcome: Outcome) -> str:
    crash = outcome.crash
    if crash is not None:
        at = f" at {crash.place}" if crash.place is not None else ""
        steps = f"after {outcome.steps} steps " if outcome.steps else "before its first step "
        return f"it ends {steps}with {crash.type}{at}: {crash.message[:LONGEST].rstrip('.')}"
    if outcome.kind is OutcomeKind.TIMEOUT:
        return f"it did not end within {outcome.seconds:.0f} s; --training-time allows more"
    if outcome.kind is OutcomeKind.EXITED:
        return f"it ended itself with an error: {outcome.note[-LONGEST:]}"
    return (
        _WORDS.get(outcome.kind) or outcome.note.rstrip(".") or f"it ends as {outcome.kind.value}"
    )


_WORDS: Mapping[OutcomeKind, str] = {
    OutcomeKind.KILLED: "it was killed from outside; --workers 1 needs less memory",
    OutcomeKind.NO_TRAINING: "it took no training step",
}
