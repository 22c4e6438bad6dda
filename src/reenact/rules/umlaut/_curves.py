"""Curves of training and validation at the same moments."""

from __future__ import annotations

from typing import TYPE_CHECKING

from reenact.probe.trace import Trace

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

ENOUGH = 10
"""Rows that must have been looked at before their share means something."""


def loss_curves(trace: Trace) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Validation losses, and the mean loss of the steps since the validation before."""
    import numpy as np

    seen, losses = trace.metric("val_loss").known, trace.losses.known
    held, trained = [], []
    before = -1
    for step, value in zip(seen.steps, seen.values, strict=True):
        steps = losses.values[(losses.steps > before) & (losses.steps <= step)]
        if len(steps):
            held.append(float(value))
            trained.append(float(steps.mean()))
            before = int(step)
    return np.array(held), np.array(trained)


def shared_rows(trace: Trace) -> float:
    """Share of rows that every validation, or every test, has in common with training.

    The least of each split counts: a program may also measure on its training rows on purpose.
    """
    found = [overlap for overlap in trace.overlaps if overlap.rows >= ENOUGH]
    splits = {overlap.split for overlap in found}
    return max((min(o.share for o in found if o.split == split) for split in splits), default=0.0)
