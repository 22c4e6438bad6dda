"""What a diagnosis without a finding has looked at, in five lines: the training, its books, the
experiments, what was noticed, what was left out.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from reenact.accounts import Account, AccountStatus
from reenact.diagnosis.diagnosis import Diagnosis
from reenact.faults.evidence import Evidence
from reenact.plain import in_a_row
from reenact.probe.trace import metric_name
from reenact.report import document as doc

MOST_NOTES = 3
"""Of what was left out; `-v` prints the others."""


def checked_section(found: Diagnosis) -> Iterator[doc.Section]:
    """Nothing where no program was run."""
    if found.depth.runs and found.evidence.trace is not None:
        facts = tuple((name, words) for name, words in _lines(found) if words)
        yield doc.Section("Checked", [doc.Facts("", facts)], "checked")


def _lines(found: Diagnosis) -> Iterator[tuple[str, str]]:
    evidence = found.evidence
    yield "training", _training(evidence)
    yield "accounts", _accounts(found.accounts)
    yield "experiments", _experiments(evidence)
    yield "noticed", _noticed(found)
    yield "left out", _left_out(found.notes)


def _training(evidence: Evidence) -> str:
    """Steps, the loss and each metric from the beginning to the end."""
    trace = evidence.trace
    assert trace is not None
    parts = [f"{trace.step_count} steps"]
    losses = [float(value) for value in trace.losses.values if math.isfinite(value)]
    if losses:
        parts.append(f"loss {losses[0]:.3g} -> {losses[-1]:.3g}")
    return ", ".join([*parts, *_metrics(evidence)])


def _metrics(evidence: Evidence) -> Iterator[str]:
    """What judges, where it was reported more than once."""
    trace = evidence.trace
    assert trace is not None
    for name in dict.fromkeys(metric_name(one.name) for one in trace.metrics):
        values = [float(value) for value in trace.metric(name).values if math.isfinite(value)]
        if name != "loss" and len(values) > 1:
            yield f"{name} {values[0]:.3g} -> {values[-1]:.3g}"


def _accounts(accounts: Sequence[Account]) -> str:
    """Which books balance, and of which something could not be seen."""
    if not accounts:
        return "no books were kept"
    sound = [
        one.book.value for one in accounts if not one.imbalances and one.of(AccountStatus.BALANCES)
    ]
    partly = [one.book.value for one in accounts if one.of(AccountStatus.UNSEEN)]
    parts = []
    if sound:
        parts.append(f"{in_a_row(sound)} balance{'s' if len(sound) == 1 else ''}")
    if partly:
        parts.append(f"not all was seen of {in_a_row(partly)}")
    return "; ".join(parts)


def _experiments(evidence: Evidence) -> str:
    """What small trainings next to the watched one have shown."""
    tried = evidence.experiments
    parts = []
    if tried.one_batch is not None and tried.one_batch.losses:
        alone = tried.one_batch.losses
        parts.append(f"one batch alone: loss {alone[0]:.3g} -> {alone[-1]:.3g}")
    if tried.learning_rates is not None:
        parts.append("learning rates tried one after the other")
    if tried.behaviour:
        parts.append("inputs, rows and padding exchanged")
    if tried.unchecked:
        parts.append(f"no time for {in_a_row(tried.unchecked)}")
    return "; ".join(parts)


def _noticed(found: Diagnosis) -> str:
    """Symptoms that a sound training can have as well."""
    return in_a_row(f"{one.code} {one.name}" for one in found.symptoms)


def _left_out(notes: Sequence[str]) -> str:
    known = [note.rstrip(".") for note in notes[:MOST_NOTES]]
    if len(notes) > MOST_NOTES:
        known.append(f"{len(notes) - MOST_NOTES} more")
    return "; ".join(known)
