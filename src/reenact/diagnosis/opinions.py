"""Opinions of a model next to what detectors saw.

A model that reads a program executes nothing. Where a detector saw the same fault in the same
statement, the opinion is a word in its details and makes it no surer; everywhere else it stays an
opinion, which a training may confirm. `Finding.is_opinion` alone decides what counts as one.
"""

from collections.abc import Iterable
from dataclasses import replace

from reenact.faults.finding import Finding
from reenact.program.program import Program


def with_opinions(findings: Iterable[Finding], program: Program) -> tuple[Finding, ...]:
    """The findings of detectors, each with the opinions that agree with it, then those with which
    no detector agrees.
    """
    known = tuple(findings)
    seen = [one for one in known if not one.is_opinion]
    alone: list[Finding] = []
    for opinion in (one for one in known if one.is_opinion):
        at = next((at for at, one in enumerate(seen) if _agree(one, opinion, program)), None)
        if at is None:
            alone.append(opinion)
        else:
            both = (*seen[at].agreeing, *opinion.observations)
            seen[at] = replace(seen[at], agreeing=both)
    return (*seen, *alone)


def _agree(finding: Finding, opinion: Finding, program: Program) -> bool:
    """Whether both are about one fault of one statement, and no layer speaks against it."""
    if finding.fault is None or opinion.fault is None:
        return False
    if finding.fault.counted_as is not opinion.fault.counted_as:
        return False
    if finding.place is None or opinion.place is None:
        return False
    layers = {finding.layer, opinion.layer} - {""}
    same_place = program.statement(finding.place) == program.statement(opinion.place)
    return same_place and len(layers) < 2
