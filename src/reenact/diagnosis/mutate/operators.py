"""The operators: each makes mutants of one sort, programs with one fault put in on purpose."""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeAlias, TypedDict

from reenact.errors import PatchRefused
from reenact.faults.fault_type import FaultType
from reenact.program.edit.change import Change, Remove, Replace, Set
from reenact.program.hyperparameter import Hyperparameter, Kind
from reenact.program.patch import Patch
from reenact.program.program import Program
from reenact.program.static_graph import hyperparameters_of
from reenact.program.training.loss_families import LossFamily, loss_family
from reenact.program.training.vocabulary import plain_name
from reenact.types import JsonValue

Params: TypeAlias = Sequence[Hyperparameter]
Proposals: TypeAlias = Iterator[tuple[Change, ...]]


class MutantJson(TypedDict):
    """A mutant as JSON."""

    operator: str
    fault: FaultType
    patch: Patch


@dataclass(frozen=True, slots=True)
class Mutant:
    """One way to break a program."""

    patch: Patch
    operator: str
    """Name of the operator that made it."""
    fault: FaultType

    def json_fields(self) -> MutantJson:
        return {
            "operator": self.operator,
            "fault": self.fault,
            "patch": self.patch,
        }

    @property
    def name(self) -> str:
        """What is changed, in one line."""
        return f"{self.operator}: {self.patch}"


@dataclass(frozen=True, slots=True)
class Operator:
    """One sort of fault."""

    name: str
    fault: FaultType
    what: str
    """One sentence for the list of operators."""
    propose: Callable[[Params], Proposals]
    """Changes worth making to a program with these hyperparameters; those that it does not allow
    are left out later.
    """
    covers: tuple[str, ...] = ()
    """DeepCrime's operators that this one restates, by their codes."""

    def mutants(self, program: Program) -> Iterator[Mutant]:
        """Every mutant that can really be made: the patch applies, parses, and changes
        something.
        """
        seen = {_text(program)}
        for changes in self.propose(hyperparameters_of(program)):
            patch = Patch(changes)
            try:
                text = _text(patch.apply(program))
            except PatchRefused:
                continue
            if text not in seen:
                seen.add(text)
                yield Mutant(patch, self.name, self.fault)


def turnable(params: Params, *kinds: Kind) -> Iterator[Hyperparameter]:
    """The hyperparameters of these kinds that a patch can turn."""
    return (param for param in params if param.kind in kinds and param.changeable)


def number(param: Hyperparameter) -> float | None:
    """The number in force, if it is one."""
    value = param.in_force
    if isinstance(value, int | float) and not isinstance(value, bool):
        return float(value)
    return None


def _text(program: Program) -> tuple[object, ...]:
    return (
        *(file.raw for file in program.files),
        *program.launch.words,
    )


def operator(
    name: str,
    fault: FaultType,
    what: str,
    *covers: str,
) -> Callable[..., Operator]:
    """Makes an operator of a function that proposes changes; `covers`: codes of DeepCrime's
    operators.
    """
    return lambda propose: Operator(name, fault, what, propose, covers)


def setting(
    name: str,
    fault: FaultType,
    what: str,
    kinds: Kind | tuple[Kind, ...],
    *values: JsonValue | type[Remove] | Callable[[float], float],
    written: bool = False,
    role: str = "",
    above: float | None = None,
    covers: tuple[str, ...] = (),
) -> Operator:
    """An operator that gives each of these values to each hyperparameter of these kinds; a function
    makes it of the number in force, the class Remove takes the hyperparameter out. `written`: only
    those that the program writes; `role`: only those of such layers; `above`: only numbers larger
    than this.
    """

    def propose(params: Params) -> Proposals:
        for param in turnable(
            params,
            *([kinds] if isinstance(kinds, Kind) else kinds),
        ):
            count = number(param)
            fits = above is None or (count is not None and count > above)
            if fits and not (written and param.absent) and role in ("", param.role):
                for value in values:
                    if isinstance(value, type):
                        yield (Remove(param.id),)
                    else:
                        yield (
                            Set(
                                param.id,
                                value(count or 0.0) if callable(value) else value,
                            ),
                        )

    return Operator(name, fault, what, propose, covers)


# Operators on the numbers of a training: learning rate, epochs, batch size, momentum, clipping.

RATE_FACTORS = (1e-3, 100.0, 1e-5, 1000.0, 0.02, 20.0)
"""Far down and far up, by turns: DeepFD's seeds lie six and more orders away, where no one
would look.
"""
WHOLE = 100_000
"""A batch that holds any data of the size this is for: batching is off."""


def times(factor: float) -> Callable[[float], int]:
    """So many times a whole number, at least one."""
    return lambda count: max(1, round(count * factor))


def rate_times(factor: float) -> Callable[[float], float]:
    """So many times a learning rate, in three digits."""
    return lambda rate: round(
        rate * factor,
        max(0, 2 - math.floor(math.log10(rate * factor))),
    )


@operator("gradient-clip", FaultType.GCL, "Gradients are not clipped, or to nothing.", "OCG")
def gradient_clip(params: Params) -> Proposals:
    """Removed, or so tight that hardly anything is left of the gradient."""
    for param in turnable(params, Kind.GRADIENT_CLIP):
        if not param.absent:
            yield (Remove(param.id),)
            yield (Set(param.id, None),)
        yield (Set(param.id, 1e-4),)


# Operators that exchange a part of the training: optimiser, loss.

OPTIMIZERS = ("SGD", "Adadelta", "Adagrad", "RMSprop", "Adam")
"""Those of DeepFD."""
OTHER = {
    LossFamily.REGRESSION: (
        "BCEWithLogitsLoss",
        "binary_crossentropy",
        "SoftMarginLoss",
        "hinge",
        "poisson",
        "kl_divergence",
    ),
    None: (
        "MSELoss",
        "mean_squared_error",
        "L1Loss",
        "mean_absolute_error",
        "SmoothL1Loss",
        "mean_absolute_percentage_error",
        "mean_squared_logarithmic_error",
        "cosine_similarity",
    ),
}
"""Losses of the other family, by the family of what is there; none: any loss of a
classification.
"""
_CAMEL = {
    "l1loss": "l1",
    "huberloss": "huber",
    "smoothl1loss": "smooth_l1",
}


@operator("optimizer", FaultType.OCH, "Another optimiser takes the old learning rate.", "OCH")
def optimizer(params: Params) -> Proposals:
    for param in turnable(params, Kind.OPTIMIZER):
        for name in _spelled(param, OPTIMIZERS):
            yield (Replace(param.id, name),)


@operator("loss", FaultType.LCH, "The loss is one of the other family.", "LCH")
def loss(params: Params) -> Proposals:
    """A loss of the other family: as an engineer would exchange it, with what it demands, and
    bare.
    """
    for param in turnable(params, Kind.LOSS):
        family = LossFamily.REGRESSION if _is_regression(param) else None
        for name in _spelled(param, OTHER[family]):
            yield (Replace(param.id, name),)
            if (
                family is not None or param.library != "torch"
            ):  # PyTorch would stumble over class labels
                yield (Set(param.id, name),)


def _is_regression(param: Hyperparameter) -> bool:
    name = str(param.in_force).rpartition(".")[2]
    plain = plain_name(name)
    return loss_family(_CAMEL.get(plain, name)) is LossFamily.REGRESSION or plain.startswith(
        ("mean", "mse")
    )


def _spelled(param: Hyperparameter, wanted: Sequence[str]) -> Iterator[str]:
    """Of what is wanted that which the program's library has, as the program would write it."""
    spelled = {plain_name(value): value for value in param.alternatives if isinstance(value, str)}
    return (spelled[plain_name(name)] for name in wanted if plain_name(name) in spelled)


# Operators on activations: changed, removed, added.

HIDDEN = ("sigmoid", "softmax", "exponential", "hardshrink")
"""Seldom right between layers: they squash, and stacked they let no gradient through."""
OUTPUT = ("relu", "tanh", "sigmoid", "softmax", "softsign")


@operator(
    "activation-hidden",
    FaultType.ACH,
    "Hidden layers are passed through a squashing activation.",
    "ACH",
)
def hidden(params: Params) -> Proposals:
    """All hidden activations at once, and the first one alone."""
    written = [param for param in turnable(params, Kind.ACTIVATION) if not param.absent]
    found = [param for param in written if param.role != "output"]
    for word in HIDDEN:
        if changed := tuple(Set(param.id, word) for param in found if param.in_force != word):
            yield from (changed, changed[:1])


@operator(
    "activation-removed",
    FaultType.ARM,
    "Hidden layers, or the output, stay linear.",
    "ARM",
)
def removed(params: Params) -> Proposals:
    """All hidden ones at once; the one at the end."""
    bent = [
        param for param in turnable(params, Kind.ACTIVATION) if not param.absent and _bends(param)
    ]
    if inside := tuple(Set(param.id, "linear") for param in bent if param.role != "output"):
        yield inside
    yield from ((Set(param.id, "linear"),) for param in bent if param.role == "output")


@operator(
    "activation-added", FaultType.AAL, "An output that should be bare has an activation.", "AAL"
)
def added(params: Params) -> Proposals:
    """One that activates what should be straight: at the end, or before the next layer."""
    for param in turnable(params, Kind.ACTIVATION):
        if param.absent or not _bends(param):
            for word in OUTPUT if param.role == "output" else HIDDEN[:1]:
                yield (Set(param.id, word),)


def _bends(param: Hyperparameter) -> bool:
    return param.in_force not in (None, "linear", "identity")


# Operators on weights: how they begin, and how much they are held back.

INITS = ("zeros", "ones", "random_normal", "zeros_", "ones_", "normal_", "uniform_")
"""Constant, or (PyTorch's `normal_`, `uniform_`) with a deviation that knows nothing of the
layer's width.
"""
DECAYS = (0.3, 0.05)
REGULARIZERS: tuple[JsonValue, ...] = ("l2", "l1", "l1_l2")


def beginning(
    name: str,
    fault: FaultType,
    what: str,
    kind: Kind,
    inits: Sequence[str],
    *covers: str,
) -> Operator:
    """An operator that lets all layers begin with each of these; the weights of the first one
    alone too.
    """

    def propose(params: Params) -> Proposals:
        found = list(turnable(params, kind))
        for init in inits:
            own = [param for param in found if init.endswith("_") == (param.library == "torch")]
            if changes := tuple(Set(param.id, init) for param in own):
                yield from ((changes, changes[:1]) if kind is Kind.WEIGHT_INIT else (changes,))

    return Operator(name, fault, what, propose, covers)


@operator("regularisation", FaultType.RAW, "Every layer is held back.", "RAW")
def regularisation(params: Params) -> Proposals:
    """Put on every layer, with the library's own strength (0.01)."""
    found = [param for param in turnable(params, Kind.WEIGHT_REGULARIZER) if param.absent]
    for name in REGULARIZERS if found else ():
        yield tuple(Set(param.id, name) for param in found)


OPERATORS = (
    setting(
        "learning-rate",
        FaultType.HLR,
        "The learning rate is far too large or too small.",
        Kind.LEARNING_RATE,
        *map(rate_times, RATE_FACTORS),
        above=0,
        covers=("HLR",),
    ),
    setting(
        "epochs",
        FaultType.HNE,
        "Training stops long before it is done.",
        Kind.EPOCHS,
        *map(times, (0.1, 0.02, 0.25)),
        above=1,
        covers=("HNE",),
    ),
    setting(
        "batch-size",
        FaultType.HBS,
        "Batches are far larger or smaller.",
        Kind.BATCH_SIZE,
        *map(times, (8.0, 1 / 16)),
        above=0,
        covers=("HBS",),
    ),
    setting(
        "no-batches",
        FaultType.HBS,
        "All data is one batch.",
        Kind.BATCH_SIZE,
        WHOLE,
        covers=("HDB",),
    ),
    setting(
        "momentum",
        FaultType.HMO,
        "Momentum is nearly one, or gone.",
        Kind.MOMENTUM,
        0.999,
        0.0,
        written=True,
    ),
    gradient_clip,
    optimizer,
    loss,
    hidden,
    setting(
        "activation-output",
        FaultType.ACH,
        "The output has another activation.",
        Kind.ACTIVATION,
        *OUTPUT,
        written=True,
        role="output",
        covers=("ACH",),
    ),
    removed,
    added,
    beginning(
        "weight-init",
        FaultType.WCI,
        "Weights begin constant, or with the wrong spread.",
        Kind.WEIGHT_INIT,
        INITS,
        "WCI",
    ),
    beginning(
        "bias-init",
        FaultType.BCI,
        "Biases begin far from zero.",
        Kind.BIAS_INIT,
        ("ones", "ones_", "normal_"),
    ),
    regularisation,
    setting(
        "regularisation-changed",
        FaultType.RAW,
        "A layer is held back more.",
        Kind.WEIGHT_REGULARIZER,
        *REGULARIZERS,
        written=True,
        covers=("RCW",),
    ),
    setting(
        "regularisation-removed",
        FaultType.RAW,
        "A layer is no longer held back.",
        Kind.WEIGHT_REGULARIZER,
        None,
        written=True,
        covers=("RRW",),
    ),
    setting(
        "weight-decay",
        FaultType.RAW,
        "The optimiser shrinks the weights too much.",
        Kind.WEIGHT_DECAY,
        *DECAYS,
    ),
    setting(
        "dropout",
        FaultType.RCD,
        "Nearly everything is dropped, or nothing.",
        Kind.DROPOUT,
        0.95,
        0.8,
        0.0,
        written=True,
        covers=("RCD",),
    ),
    setting(
        "layer-removed",
        FaultType.LRM,
        "A hidden layer is missing.",
        Kind.LAYER,
        None,
        role="hidden",
    ),
    setting(
        "layer-repeated",
        FaultType.LAD,
        "A hidden layer is there several times.",
        Kind.LAYER,
        {"repeat": 2},
        {"repeat": 8},
        role="hidden",
    ),
    setting(
        "units",
        FaultType.LCN,
        "A hidden layer is far too narrow.",
        (Kind.UNITS, Kind.FILTERS),
        1,
        2,
        role="hidden",
        above=2,
    ),
    setting(
        "normalisation-removed",
        FaultType.LNM,
        "A normalisation layer is missing.",
        Kind.NORMALIZATION,
        None,
        Remove,
        written=True,
    ),
    # Grey values stay between 0 and 255: they are divided by one.
    setting(
        "scaling",
        FaultType.CPP,
        "Inputs are not scaled.",
        Kind.PREPROCESSING,
        1.0,
        written=True,
        above=1,
    ),
    setting(
        "shuffle",
        FaultType.SHF,
        "Training data always comes in the same order.",
        Kind.SHUFFLE,
        False,
    ),
    setting(
        "validation",
        FaultType.VRM,
        "There is no validation data.",
        Kind.VALIDATION,
        Remove,
        None,
        written=True,
        covers=("VRM",),
    ),
)
