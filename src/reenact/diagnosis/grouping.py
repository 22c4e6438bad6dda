"""Findings of several detectors that point to one thing become one finding with several witnesses,
each weighed against the others and against the course of the training.
"""

from collections.abc import Iterable, Iterator, Sequence

from reenact.faults.agreement import FindingKey
from reenact.faults.confidence import PROVEN, Health
from reenact.faults.finding import Finding, merged
from reenact.faults.observation import Certainty


def grouped(
    findings: Iterable[Finding],
    *,
    health: Health = Health.UNSEEN,
    begun: bool = True,
) -> tuple[Finding, ...]:
    """Findings by what they are about, the most suspected first; those that may be a cause are
    calibrated.

    Where something is as good as proven from the program itself, it explains what happened in the
    run, and what was seen in the run alone is less likely. Next to proof every hint is: while an
    output cannot express the labels, the right learning rate cannot be known. So is a hint where
    the training works, by its `health`, or has not `begun`: what is unusual there does no harm.
    Where a training is not seen to fail, a hint alone is doubted. Opinions of a model explain nothing
    and come last, each by itself.
    """
    groups: dict[FindingKey, list[Finding]] = {}
    for finding in findings:
        groups.setdefault(finding.key, []).append(finding)
    together = [merged(part) for group in groups.values() for part in _of_one_mind(group)]
    causes = [one for one in together if one.is_root_cause and not one.is_opinion]
    if any(one.suspicion >= PROVEN and not _in_the_run(one) for one in causes):
        together = [
            one.explained() if _in_the_run(one) and one.fault is not None else one
            for one in together
        ]
    proven = any(one.certainty is Certainty.PROOF for one in causes)
    if health is Health.WORKS or not begun or proven:
        together = [one.explained() if one.certainty is Certainty.HINT else one for one in together]
    weighed = [one.weighed(health) for one in together]
    known = [one.calibrated() if one.is_root_cause else one for one in weighed]
    return tuple(sorted(known, key=lambda one: (one.is_opinion, -one.suspicion, one.first.code)))


def _of_one_mind(group: Sequence[Finding]) -> Iterator[list[Finding]]:
    """Findings that would turn a hyperparameter the same way. One that says "too high" is not a witness of
    "too low", and has to stand for itself.
    """
    surest = max(group, key=lambda one: (one.certainty is not Certainty.HINT, one.suspicion))
    way = surest.first.direction
    against = [one for one in group if one.first.direction * way < 0]
    yield [one for one in group if one not in against]
    if against:
        yield against


def _in_the_run(finding: Finding) -> bool:
    """Whether nothing but the run speaks for it."""
    return all(one.in_the_run for one in finding.observations)
