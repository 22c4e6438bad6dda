"""The score card: verdicts that changed, and true faults named before and after."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict

from benchmarks.blind.cases import Case
from benchmarks.blind.compare import (
    NOT_COMPARABLE,
    SAME,
    Compared,
    Rewritten,
    come,
    gone,
    is_changed,
    named,
)
from benchmarks.blind.rewrites.every import ALL, REWRITES
from benchmarks.dataset.lock import digest_of_all
from benchmarks.dataset.training import Truth
from benchmarks.scorecard import Goal, Scorecard, Table
from benchmarks.share import Share
from reenact.types import JsonValue

MOST_CHANGED = 0.02
LEAST = 100
"""Programs of the data set below which the goals on it are not judged."""


def scorecard(cases: Sequence[Case], compared: Sequence[Compared], depth: str) -> Scorecard:
    """Everything that was compared."""
    by_name = {case.name: case for case in cases}
    of_data = [one for one in compared if by_name[one.program].training is not None]
    of_examples = [one for one in compared if by_name[one.program].training is None]
    changed, example_changes = _changed(of_data, ALL), _any_changed(of_examples)
    before, after = _named(of_data, by_name)
    measured = {
        "changed": changed.figure("verdicts changed, all rewrites at once"),
        "examples": example_changes.figure("verdicts changed on examples"),
        "before": before.figure("true faults named"),
        "after": after.figure("true faults named, rewritten"),
    }
    for name in (*REWRITES, ALL):
        measured[f"examples_{name}"] = _changed(of_examples, name).figure(
            f"verdicts changed on examples: {name}"
        )
    return Scorecard(
        name="blind" if depth == "quick" else f"blind-{depth}",
        figures=f"changed {changed}, on examples {example_changes}, "
        f"true faults named {before.part} before, {after.part} after, of {before.whole}",
        goals=_goals(changed, example_changes, before, after),
        tables=_tables(compared, by_name),
        facts=_facts(compared),
        measured=measured,
        cases=digest_of_all([one.program for one in of_data]),
    )


def _facts(compared: Sequence[Compared]) -> JsonValue:
    return [asdict(one) for one in compared]


def _goals(changed: Share, examples: Share, before: Share, after: Share) -> tuple[Goal, ...]:
    enough = changed.whole >= LEAST
    return (
        Goal(
            "verdicts changed, all rewrites at once",
            f"<= {MOST_CHANGED:.0%}",
            str(changed),
            changed.value <= MOST_CHANGED if enough else None,
        ),
        Goal(
            "verdicts changed on examples",
            "none",
            str(examples),
            examples.part == 0 if examples.whole else None,
        ),
        Goal(
            "true faults named on rewritten programs",
            f">= {before.part}",
            str(after),
            after.part >= before.part if enough else None,
        ),
    )


def _changed(compared: Sequence[Compared], rewrite: str) -> Share:
    pairs = [(one, other) for one in compared if (other := one.of(rewrite)) is not None]
    return Share(sum(is_changed(one, other) for one, other in pairs), len(pairs))


def _any_changed(compared: Sequence[Compared]) -> Share:
    """Rewrites of examples, each one a case."""
    pairs = [(one, other) for one in compared for other in one.rewrites if other.state == SAME]
    return Share(sum(is_changed(one, other) for one, other in pairs), len(pairs))


def _named(compared: Sequence[Compared], cases: Mapping[str, Case]) -> tuple[Share, Share]:
    """Of the faults of the programs whose rewrite does the same."""
    before = after = whole = 0
    for one in compared:
        other, training = one.of(ALL), cases[one.program].training
        if other is None or training is None:
            continue
        whole += len(training.fault)
        before += len(named(training, one.original))
        after += len(named(training, other.verdict))
    return Share(before, whole), Share(after, whole)


def _tables(compared: Sequence[Compared], cases: Mapping[str, Case]) -> tuple[Table, ...]:
    pairs = [(one, other) for one in compared for other in one.rewrites]
    changes = tuple(
        (one.program, other.rewrite, _listed(gone(one, other)), _listed(come(one, other)))
        for one, other in pairs
        if other.state == SAME and is_changed(one, other)
    )
    faults = tuple(
        (one.program, other.rewrite, f"{truth.kind} {'/'.join(map(str, truth.lines))}", way)
        for one, other in pairs
        if other.state == SAME
        for truth, way in _moved(one, other, cases[one.program])
    )
    discarded = tuple(
        (one.program, other.rewrite, other.why)
        for one, other in pairs
        if other.state == NOT_COMPARABLE
    )
    return (
        Table("Rewrites", ("rewrite", "same", "changed", "not comparable"), _rewrites(compared)),
        Table("Verdicts that changed", ("program", "rewrite", "gone", "new"), changes),
        Table("True faults lost or gained", ("program", "rewrite", "fault", "which"), faults),
        Table("Not comparable", ("program", "rewrite", "why"), discarded),
    )


def _rewrites(compared: Sequence[Compared]) -> tuple[tuple[str, ...], ...]:
    rows = []
    for name in (*REWRITES, ALL):
        share = _changed(compared, name)
        discarded = sum(
            other.rewrite == name and other.state == NOT_COMPARABLE
            for one in compared
            for other in one.rewrites
        )
        rows.append((name, str(share.whole), str(share.part), str(discarded)))
    return tuple(rows)


def _listed(shown: Sequence[object]) -> str:
    return ", ".join(map(str, shown)) or "-"


def _moved(compared: Compared, other: Rewritten, case: Case) -> list[tuple[Truth, str]]:
    if case.training is None:
        return []
    before = named(case.training, compared.original)
    after = named(case.training, other.verdict)
    return [(truth, "lost") for truth in before if truth not in after] + [
        (truth, "gained") for truth in after if truth not in before
    ]
