"""Faults of correctness: what is wrong is the number that judges, or the rows it is taken from.

To take such a fault away may make the number worse, since it was better than it should have been. No
comparison of the number can judge that: the detector does, which must be silent afterwards.
"""

from __future__ import annotations

from reenact.faults.finding import Finding

OF_THE_NUMBER = frozenset(
    {
        "augmentation-on-validation",
        "averaged-model-without-update-bn",
        "causal-mask-leak",
        "evaluated-in-training-mode",
        "metrics-do-not-balance",
        "models-do-not-balance",
        "rows-do-not-balance",
        "target-leak",
        "train-test-scaling-mismatch",
        "validation-data-leak",
        "wrong-metric",
    }
)
"""Faults by name: leaks, metrics, evaluation."""


def is_of_correctness(finding: Finding) -> bool:
    """Whether the fault spoils the number that judges, whatever it does to the training."""
    return any(one.fault_name in OF_THE_NUMBER for one in finding.observations)
