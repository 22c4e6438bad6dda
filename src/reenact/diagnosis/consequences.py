"""What follows from a surer finding is not a finding of its own.

Next to gradients that add up, or steps that a limit cuts to a thousandth, the losses say nothing of the
learning rate: what seems too high or too low there is a consequence, and advice to change it is wrong.
"""

from __future__ import annotations

from collections.abc import Sequence

from reenact.faults.confidence import LIKELY
from reenact.faults.entry import Category
from reenact.faults.finding import Finding
from reenact.faults.observation import Certainty
from reenact.faults.registry import detector

ELSEWHERE = (Category.EVALUATION, Category.CRASH)
"""A fault there does nothing to the course of the training."""


def without_consequences(findings: Sequence[Finding], threshold: float) -> tuple[Finding, ...]:
    """The findings; those that follow from a surer one are worth a look at most, and say from which."""
    causes = [one for one in findings if one.is_root_cause and not one.is_opinion]
    weighed: list[Finding] = []
    for one in findings:
        cause = next((other for other in causes if explains(other, one)), None)
        if cause is not None:
            one = one.demoted(threshold, f"probably follows from {cause.code}: fix that first")
        weighed.append(one)
    return tuple(weighed)


def explains(cause: Finding, other: Finding) -> bool:
    """Whether the training would look like this for the one fault alone."""
    if cause is other or other.certainty is Certainty.PROOF:
        return False
    if _is_the_same_at_large(cause, other):
        return True
    if not _by_the_steps(other):
        return False
    if cause.certainty is Certainty.PROOF:
        return _spoils_training(cause)
    sure = cause.certainty is Certainty.STRONG and cause.confidence >= LIKELY
    return sure and _rescales(cause) and not _rescales(other)


def _is_the_same_at_large(cause: Finding, other: Finding) -> bool:
    """Whether the very fault is proven of the whole training, and the other one sees it in a layer."""
    proven = cause.certainty is Certainty.PROOF and not cause.layer
    return proven and bool(cause.fault_name) and cause.fault_name == other.fault_name


def _by_the_steps(finding: Finding) -> bool:
    """Whether it is about the size of the steps, and nothing but the run, or a hint, speaks for it."""
    fault = finding.fault
    if fault is None or not fault.traits.in_step_size:
        return False
    return all(one.in_the_run or one.certainty is Certainty.HINT for one in finding.observations)


def _rescales(finding: Finding) -> bool:
    fault = finding.fault
    return fault is not None and fault.traits.rescales_steps


def _spoils_training(cause: Finding) -> bool:
    """Whether what is proven is a fault of the training, not of what judges it."""
    # The surest witness may be no detector of ours, such as the learned one; what proves is.
    proof = next(one for one in cause.observations if one.certainty is Certainty.PROOF)
    return not proof.of_held_out_rows and detector(proof.code).fault.category not in ELSEWHERE
