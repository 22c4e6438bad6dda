"""What the output of a model is really like, where its layers alone do not tell."""

from __future__ import annotations

from reenact.probe.columns import Columns
from reenact.rules import Evidence, Kind
from reenact.rules.own._places import says


def reads_logits(evidence: Evidence) -> bool:
    """Whether the loss is told to take raw scores; the text is asked when nothing has run."""
    if evidence.loss is not None:
        return bool(evidence.loss.from_logits)
    return says(evidence, "from_logits=True", "from_logits = True")


def left_open(evidence: Evidence) -> bool:
    """Whether nothing has run and the text does not tell what reaches the loss: raw scores, several losses,
    outputs that are bent outside of the model."""
    if evidence.graph is not None:
        return False
    several = len(list(evidence.knobs_of(Kind.LOSS))) > 1
    return several or reads_logits(evidence) or _bent_outside(evidence)


def _bent_outside(evidence: Evidence) -> bool:
    return says(evidence, "torch.sigmoid(", "torch.softmax(", "ops.softmax(", "ops.sigmoid(", ".log_softmax(")


def adds_up_to_one(evidence: Evidence) -> bool:
    """Whether every row of the output was seen to add up to one."""
    sums = [float(total) for total in _rows(evidence)["row_sum"] if total == total]
    return bool(sums) and all(0.99 < total < 1.01 for total in sums)


def is_probability(evidence: Evidence) -> bool:
    """Whether the output was seen, and never outside 0..1."""
    rows = _rows(evidence)
    lows = [float(low) for low in rows["minimum"] if low == low]
    highs = [float(high) for high in rows["maximum"] if high == high]
    return bool(lows) and min(lows) >= 0 and max(highs) <= 1


def _rows(evidence: Evidence) -> Columns:
    """What came out of the last layer of the model that was watched."""
    trace = evidence.trace
    if trace is None:
        from reenact.probe.columns import no_rows

        return no_rows(("step",))
    last = len(trace.layer_names) - 1
    return trace.layers.where(layer=last)
