"""What the trace of a benchmark run must hold: the promised steps, with what detectors need of
them.
"""

from __future__ import annotations

from dataclasses import dataclass

from reenact.probe.trace import Trace

FIRST = 20
"""Every one of the first steps is sampled."""
LATER_SHARE = 0.02
"""Of the later ones at least this share."""


@dataclass(frozen=True, slots=True)
class Promises:
    """What a trace holds of what was promised."""

    steps: int
    sampled: int
    later_share: float
    """Sampled share of the steps behind the first ones; 1 when there are none."""
    probe_seconds: float
    broken: tuple[str, ...]
    """Each broken promise in a sentence."""


def kept(trace: Trace | None) -> Promises:
    """Look at the trace of one run."""
    if trace is None or not trace.step_count:
        return Promises(0, 0, 0.0, 0.0, ("there is no trace",))
    sampled = {int(step) for step in trace.steps.where(sampled=1)["step"]}
    later = [int(step) for step in trace.steps["step"] if step >= FIRST]
    share = sum(step in sampled for step in later) / len(later) if later else 1.0
    return Promises(
        steps=trace.step_count,
        sampled=len(sampled),
        later_share=share,
        probe_seconds=trace.probe_seconds,
        broken=tuple(_broken(trace, sampled, share)),
    )


def _broken(trace: Trace, sampled: set[int], share: float) -> list[str]:
    found = [str(event.facts.get("sentence")) for event in trace.happened("probe-off")]
    if not trace.complete:
        found.append("the trace has no ending")
    lost = [step for step in range(min(FIRST, trace.step_count)) if step not in sampled]
    if lost:
        found.append(f"of the first {FIRST} steps {len(lost)} were not sampled")
    if share < LATER_SHARE:
        found.append(f"{share:.2%} of the later steps were sampled")
    if len(trace.losses.known) < trace.step_count:
        found.append(f"{trace.step_count - len(trace.losses.known)} steps have no loss")
    looked = {int(step) for step in trace.layers.where(phase=0)["step"]}
    if sampled - looked:
        found.append(f"{len(sampled - looked)} sampled steps have no row of a layer")
    moved = {int(step) for step in trace.parameters.where(grad_present=1)["step"]}
    if sampled - moved:
        found.append(
            f"{len(sampled - moved)} sampled steps have no row of a parameter with a gradient"
        )
    if trace.graph is None or not trace.graph.layers:
        found.append("there is no graph")
    return found
