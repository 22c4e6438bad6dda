"""The fault types of the study (Table 1 of "Fault Localisation and Repair for DL Systems"), and
ours; and what holds of every fault of a type.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from reenact.program.hyperparameter import Kind


class FaultType(StrEnum):
    """What is wrong with a training program. The codes are literals for ever."""

    HBS = "HBS"
    """Wrong batch size."""
    HLR = "HLR"
    """Wrong learning rate."""
    HNE = "HNE"
    """Wrong number of epochs."""
    ACH = "ACH"
    """Wrong activation."""
    ARM = "ARM"
    """Missing activation."""
    AAL = "AAL"
    """Redundant activation."""
    RAW = "RAW"
    """Redundant weight regularisation."""
    WCI = "WCI"
    """Wrong weight initialisation."""
    LCH = "LCH"
    """Wrong loss."""
    OCH = "OCH"
    """Wrong optimiser."""
    LRM = "LRM"
    """Missing layer."""
    LAD = "LAD"
    """Redundant layer."""
    LCN = "LCN"
    """Wrong number of neurons."""
    LCF = "LCF"
    """Wrong size of a convolution filter."""
    BCI = "BCI"
    """Wrong bias initialisation."""
    CPP = "CPP"
    """Wrong data preprocessing."""
    VRM = "VRM"
    """Missing validation data."""
    RCD = "RCD"
    """Wrong dropout rate."""
    HWD = "HWD"
    """Wrong weight decay."""
    HMO = "HMO"
    """Wrong momentum."""
    LNM = "LNM"
    """Wrong or missing normalisation layer."""
    GCL = "GCL"
    """Wrong or missing gradient clipping."""
    HSC = "HSC"
    """Wrong or missing learning-rate schedule."""
    ZGR = "ZGR"
    """Gradients are not set to zero between steps."""
    MOD = "MOD"
    """Wrong train or evaluation mode."""
    SHF = "SHF"
    """Training data is not shuffled."""

    @property
    def traits(self) -> Traits:
        """What holds of every fault of this type."""
        return _TRAITS[self]

    @property
    def counted_as(self) -> FaultType:
        """The type under which findings of this one are grouped: missing, wrong and redundant
        activations are one thing seen from different sides.
        """
        return self.traits.same_as or self


@dataclass(frozen=True, slots=True, kw_only=True)
class Traits:
    """What holds of every fault of a type."""

    kinds: tuple[Kind, ...]
    """The hyperparameters that it is about."""
    of_training: bool = False
    """It belongs to no layer, wherever it shows."""
    keeps_from_learning: bool = False
    """A training that learns well has no such fault that matters."""
    in_every_run: bool = False
    """Every run shows it, however many models the program has."""
    of_rows: bool = False
    """It is about the data themselves: made-up data say nothing of it."""
    in_step_size: bool = False
    """It shows in the size of the steps."""
    rescales_steps: bool = False
    """It makes steps longer or shorter than the learning rate says: next to it no rate can be judged."""
    settings_key: str = ""
    """How files of settings call its hyperparameter: a regular expression; empty for none."""
    keyword: str = ""
    """How the libraries call it, as a regular expression: a program that hands settings on by `**`
    has to use this.
    """
    same_as: FaultType | None = None
    """The type under which it is counted; none for its own."""


_TRAITS = {
    FaultType.HBS: Traits(
        kinds=(Kind.BATCH_SIZE,),
        of_training=True,
        settings_key=r"(?:train_)?batch[_-]?size",
        keyword=r"batch[_-]size",
    ),
    FaultType.HLR: Traits(
        kinds=(Kind.LEARNING_RATE,),
        of_training=True,
        keeps_from_learning=True,
        in_step_size=True,
        settings_key=r"lr|learning[_-]rate",
        keyword=r"lr|learning[_-]rate",
    ),
    FaultType.HNE: Traits(
        kinds=(Kind.EPOCHS,),
        of_training=True,
        keeps_from_learning=True,
        settings_key=r"(?:n(?:um)?_|max_)?epochs",
        keyword=r"(?:max[_-])?epochs",
    ),
    FaultType.ACH: Traits(kinds=(Kind.ACTIVATION,), keeps_from_learning=True),
    FaultType.ARM: Traits(
        kinds=(Kind.ACTIVATION,), keeps_from_learning=True, same_as=FaultType.ACH
    ),
    FaultType.AAL: Traits(
        kinds=(Kind.ACTIVATION,), keeps_from_learning=True, same_as=FaultType.ACH
    ),
    FaultType.RAW: Traits(kinds=(Kind.WEIGHT_REGULARIZER,), keeps_from_learning=True),
    FaultType.WCI: Traits(kinds=(Kind.WEIGHT_INIT,), keeps_from_learning=True),
    FaultType.LCH: Traits(kinds=(Kind.LOSS,), of_training=True, keeps_from_learning=True),
    FaultType.OCH: Traits(
        kinds=(Kind.OPTIMIZER,),
        of_training=True,
        keeps_from_learning=True,
        in_step_size=True,
    ),
    FaultType.LRM: Traits(kinds=(Kind.LAYER,)),
    FaultType.LAD: Traits(kinds=(Kind.LAYER,)),
    FaultType.LCN: Traits(kinds=(Kind.UNITS, Kind.FILTERS), keeps_from_learning=True),
    FaultType.LCF: Traits(kinds=(Kind.KERNEL_SIZE,), keeps_from_learning=True),
    FaultType.BCI: Traits(kinds=(Kind.BIAS_INIT,), keeps_from_learning=True),
    FaultType.CPP: Traits(
        kinds=(Kind.PREPROCESSING,),
        of_training=True,
        keeps_from_learning=True,
        of_rows=True,
    ),
    FaultType.VRM: Traits(kinds=(Kind.VALIDATION,), of_training=True),
    FaultType.RCD: Traits(
        kinds=(Kind.DROPOUT,),
        settings_key=r"dropout",
        keyword=r"dropout",
    ),
    FaultType.HWD: Traits(
        kinds=(Kind.WEIGHT_DECAY,),
        of_training=True,
        keeps_from_learning=True,
        settings_key=r"weight[_-]decay|wd",
        keyword=r"weight[_-]decay",
    ),
    FaultType.HMO: Traits(
        kinds=(Kind.MOMENTUM,),
        of_training=True,
        keeps_from_learning=True,
        in_step_size=True,
        settings_key=r"momentum",
        keyword=r"momentum",
    ),
    FaultType.LNM: Traits(kinds=(Kind.NORMALIZATION,), keeps_from_learning=True),
    FaultType.GCL: Traits(
        kinds=(Kind.GRADIENT_CLIP,), of_training=True, in_step_size=True, rescales_steps=True
    ),
    FaultType.HSC: Traits(
        kinds=(Kind.SCHEDULER,), of_training=True, in_step_size=True, rescales_steps=True
    ),
    FaultType.ZGR: Traits(
        kinds=(Kind.ZERO_GRAD,), of_training=True, in_every_run=True, rescales_steps=True
    ),
    FaultType.MOD: Traits(kinds=(Kind.MODE,), of_training=True, in_every_run=True),
    FaultType.SHF: Traits(kinds=(Kind.SHUFFLE,), of_training=True, in_every_run=True),
}
