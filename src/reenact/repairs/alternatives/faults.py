"""Which fault types a change speaks of: what makes an alternative repair an alternative ground truth."""

from __future__ import annotations

from reenact.program.change import Change, Insert, Remove, Set
from reenact.program.fault import Fault
from reenact.program.hyperparameter import Kind
from reenact.program.patch import Patch

OF_KIND = {
    Kind.BATCH_SIZE: Fault.HBS,
    Kind.LEARNING_RATE: Fault.HLR,
    Kind.EPOCHS: Fault.HNE,
    Kind.ACTIVATION: Fault.ACH,
    Kind.WEIGHT_REGULARIZER: Fault.RAW,
    Kind.WEIGHT_INIT: Fault.WCI,
    Kind.BIAS_INIT: Fault.BCI,
    Kind.LOSS: Fault.LCH,
    Kind.OPTIMIZER: Fault.OCH,
    Kind.UNITS: Fault.LCN,
    Kind.FILTERS: Fault.LCN,
    Kind.KERNEL_SIZE: Fault.LCF,
    Kind.PREPROCESSING: Fault.CPP,
    Kind.DROPOUT: Fault.RCD,
    Kind.VALIDATION: Fault.VRM,
    Kind.WEIGHT_DECAY: Fault.HWD,
    Kind.MOMENTUM: Fault.HMO,
    Kind.NORMALIZATION: Fault.LNM,
    Kind.GRADIENT_CLIP: Fault.GCL,
    Kind.SCHEDULER: Fault.HSC,
    Kind.SHUFFLE: Fault.SHF,
    Kind.ZERO_GRAD: Fault.ZGR,
    Kind.MODE: Fault.MOD,
}


def faults_of(patch: Patch) -> frozenset[tuple[Fault, str]]:
    """Fault type and layer of every change; the layer is empty for what belongs to the training."""
    return frozenset(_fault(change) for change in patch.changes)


def _fault(change: Change) -> tuple[Fault, str]:
    if isinstance(change, Insert):
        return Fault.LRM, change.anchor.layer
    param = change.hyperparameter
    if param.kind is Kind.LAYER:
        taken = isinstance(change, Remove) or (isinstance(change, Set) and change.value is None)
        return (Fault.LAD if taken else Fault.LRM), param.layer
    return OF_KIND[param.kind], param.layer
