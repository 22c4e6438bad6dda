"""One finding in words: its line, what was seen, why that is wrong, what to change, what trying it showed."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from reenact.diagnosis.diagnosis import DiagnosisFinding, VerifiedChange
from reenact.diagnosis.suspects import Suspect
from reenact.program.program import Program
from reenact.report.views.source_lines import changed_lines
from reenact.rules.finding import Finding, Suggestion
from reenact.rules.registry import all_rules

TOLD = 3
"""Other witnesses whose observation is told; of the rest only the code."""


def headline(suspect: Suspect) -> Finding:
    """The witness to name: the surest whose rule is about this very fault, not one that infers it."""
    about = {rule.code: rule.fault for rule in all_rules()}
    direct = (one for one in suspect.witnesses if about.get(one.code) is suspect.fault)
    return next(direct, suspect.first)


def seen(finding: Finding) -> str:
    """The observation, with the layer when it does not name it."""
    if not finding.layer or finding.layer in finding.saw.split():
        return finding.saw
    return f"layer {finding.layer}: {finding.saw}"


def reasons(
    one: DiagnosisFinding, program: Program | None, *, again: bool = False, together: str = ""
) -> Iterator[tuple[str, str]]:
    """What was seen, why it is wrong, who else says so, what to change, what came of trying.

    `again`: the same rule has spoken before. `together`: the finding that told of the same change already.
    """
    first = headline(one.suspect)
    yield "saw", seen(first)
    if not again:
        yield "why", first.why
    yield from _others([other for other in one.suspect.witnesses if other is not first])
    if one.suspect.suggestions and one.tried is None:
        change = one.suspect.suggestions[0]
        yield "try", "\n".join(changed_lines(change.patch, program)) or change_words(change)
    if one.tried is not None and together:
        yield "tried", f"together with {together}, see there"
    elif one.tried is not None:
        yield "changed", "\n".join(changed_lines(one.tried.patch, program)) or str(one.tried.patch)
        yield "tried", tried_words(one.tried)
    elif one.note:
        yield "tried", one.note


def tried_words(tried: VerifiedChange) -> str:
    """Before and after over the seeds, and whether that decides."""
    before, after = (_spread(values, tried) for values in (tried.before, tried.after))
    judged = f"p={tried.p_value:.3f}" + ("" if tried.confirmed else ", not confirmed")
    return f"{len(tried.before)} seeds, {tried.measure.name} {before} -> {after} ({judged})"


def change_words(suggestion: Suggestion) -> str:
    """A change on one line."""
    name = (
        suggestion.hyperparameter.kind.value
        if suggestion.hyperparameter is not None
        else str(suggestion.patch)
    )
    if suggestion.hyperparameter is None:
        return name
    if suggestion.new is None:
        return f"{name}: take {_value(suggestion.old)} away"
    return f"{name}: {_value(suggestion.old)} -> {_value(suggestion.new)}"


def _others(others: Sequence[Finding]) -> Iterator[tuple[str, str]]:
    for number, other in enumerate(others[:TOLD]):
        yield "also" if number == 0 else "", f"{other.code} {other.name}: {seen(other)}"
    if len(others) > TOLD:
        yield "", f"and {', '.join(other.code for other in others[TOLD:])}"


def _spread(values: Sequence[float], tried: VerifiedChange) -> str:
    sign = 1 if tried.measure.larger_is_better else -1
    known = [sign * value for value in values if math.isfinite(value)]
    if not known:
        return "failed"
    mean = sum(known) / len(known)
    spread = (sum((value - mean) ** 2 for value in known) / max(1, len(known) - 1)) ** 0.5
    failed = f" ({len(values) - len(known)} failed)" if len(known) < len(values) else ""
    return f"{mean:.3g} +- {spread:.2g}{failed}"


def _value(value: object) -> str:
    return "(absent)" if value is None else str(value)
