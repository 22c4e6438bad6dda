"""What steps make of gradients: how far weights move, by the statistics of each parameter tensor."""

from __future__ import annotations

from collections.abc import Iterator

from reenact.accounts.account import Entry, imbalance
from reenact.probe.trace import Trace
from reenact.types import Place

MOST_BAD = 0.5
"""Share of the tensors whose update is infinite though their gradient is a number."""
EARLY = 3
"""Steps at the start in which an optimizer's state has forgotten nothing yet."""


def spending_entries(trace: Trace) -> Iterator[Entry]:
    """Income that is spent infinitely."""
    rows = trace.parameters
    for step in sorted(set(rows["step"].tolist()))[:EARLY]:
        seen = rows.where(step=step)
        norms, updates = seen["grad_norm"], seen["update_norm"]
        paid = [(float(a), float(b)) for a, b in zip(norms, updates, strict=True) if a - a == 0 < a]
        lost = [one for one in paid if one[1] - one[1] != 0]
        if not paid or len(lost) < MOST_BAD * len(paid):
            continue
        half = bool(trace.happened("half-precision"))
        smallest, largest = min(one[0] for one in paid), max(one[0] for one in paid)
        yield imbalance(
            "infinite-spending",
            f"step {step:.0f} makes {len(lost)} of {len(paid)} tensors infinite, or none, of "
            f"gradients of norm {smallest:.2g} to {largest:.2g}"
            + (": squares and the small number added to them are 0 in float16" if half else ""),
            why="The optimizer divides by what is zero in the type of its state.",
            fault="fp16-underflow" if half else "",
            place=_optimizer_place(trace),
            confidence=0.95,
            is_proof=half,
        )
        return


def _optimizer_place(trace: Trace) -> Place | None:
    optimizer = trace.graph.optimizer if trace.graph is not None else None
    return optimizer.place if optimizer is not None else None
