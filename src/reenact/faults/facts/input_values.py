"""What the model is fed, what its first layers do to it, and how much of it it is judged by again."""

from collections.abc import Iterator

from reenact.faults import Evidence, TensorFacts
from reenact.probe.trace import Trace

ENOUGH = 10
"""Rows that must have been looked at before their share means something."""
SCALING_LAYERS = frozenset(
    (
        "BatchNorm1d",
        "BatchNorm2d",
        "BatchNorm3d",
        "BatchNormalization",
        "GroupNormalization",
        "InstanceNorm1d",
        "InstanceNorm2d",
        "InstanceNorm3d",
        "LayerNorm",
        "LayerNormalization",
        "LazyBatchNorm1d",
        "LazyBatchNorm2d",
        "LazyBatchNorm3d",
        "Normalization",
        "Rescaling",
        "SpectralNormalization",
        "SyncBatchNorm",
        "UnitNormalization",
    )
)
SYMBOLS = frozenset(
    (
        "CategoryEncoding",
        "Discretization",
        "Hashing",
        "IntegerLookup",
        "StringLookup",
        "TextVectorization",
    )
)
PREPARING = SYMBOLS | {"Rescaling"}
"""Layers of Keras that take what is no number of unit size."""


def training_inputs(evidence: Evidence) -> Iterator[TensorFacts]:
    """Inputs of the training, one fact a tensor."""
    return (
        facts for facts in evidence.watched.data if (facts.role, facts.split) == ("input", "train")
    )


def reads_symbols(evidence: Evidence) -> bool:
    """Whether the model looks numbers up in a table, so that they are names and no quantities."""
    layers = evidence.layers
    inputs = evidence.inputs
    if inputs is not None and len(inputs.shape) < 2 and "int" in inputs.dtype:
        return True
    # Values that are measured: not even their ends are whole numbers.
    ends = (
        (inputs.minimum, inputs.maximum) if inputs is not None and not inputs.integral else (None,)
    )
    measured = all(end is not None and end % 1 for end in ends)
    if measured and evidence.graph is not None and evidence.framework == "torch":
        # Tables of PyTorch take whole numbers alone: another input is looked up, a time or a class.
        return False
    return any(layer.family == "embedding" or layer.type in SYMBOLS for layer in layers)


def saw_others(evidence: Evidence) -> bool:
    """Whether rows were seen, or a metric of rows, that are not those of the training."""
    trace = evidence.trace
    held = trace is not None and any(facts.split != "train" for facts in trace.data)
    return held or any(
        name.startswith(("val_", "test_")) for name in (trace.metric_names() if trace else ())
    )


def scales_itself(evidence: Evidence) -> bool:
    """Whether normalisation or scaling comes before the first layer with weights."""
    for layer in evidence.layers:
        if layer.type in SCALING_LAYERS:
            return True
        if layer.weighted or layer.family == "composite":
            return False
    return False


def shared_rows(trace: Trace) -> float:
    """Share of rows that every validation, or every test, has in common with training. The least of
    each split counts: a program may also measure on its training rows on purpose.
    """
    found = [overlap for overlap in trace.overlaps if overlap.rows >= ENOUGH]
    splits = {overlap.split for overlap in found}
    return max(
        (min(o.share for o in found if o.split == split) for split in splits),
        default=0.0,
    )
