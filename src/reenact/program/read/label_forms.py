"""What each loss expects of its labels, and of the outputs it compares them with."""

from __future__ import annotations

from enum import StrEnum

from reenact.program.read.names import plain_name
from reenact.program.words import words


class Form(StrEnum):
    """How labels are written down."""

    NUMBERS = "any numbers, one for each output"
    BITS = "numbers from 0 to 1, one for each output"
    COLUMNS = "one column a class"
    CLASSES = "the number of a class"


_LOSSES = {
    Form.NUMBERS: words(
        "MSELoss L1Loss SmoothL1Loss HuberLoss PoissonNLLLoss MeanSquaredError MeanAbsoluteError "
        "MeanAbsolutePercentageError MeanSquaredLogarithmicError LogCosh Huber Poisson CosineSimilarity"
    ),
    Form.BITS: words(
        "BCELoss BCEWithLogitsLoss binary_cross_entropy binary_cross_entropy_with_logits BinaryCrossentropy "
        "BinaryFocalCrossentropy"
    ),
    Form.COLUMNS: words(
        "KLDivLoss kl_div CategoricalCrossentropy CategoricalFocalCrossentropy CategoricalHinge KLDivergence"
    ),
    Form.CLASSES: words(
        "CrossEntropyLoss cross_entropy NLLLoss MultiMarginLoss multi_margin_loss "
        "SparseCategoricalCrossentropy"
    ),
}
_FORMS = {plain_name(loss): form for form, losses in _LOSSES.items() for loss in losses}

_OUTPUTS = {
    "sigmoid": words("BCELoss binary_cross_entropy BinaryCrossentropy"),
    "log_softmax": words("NLLLoss"),
    "softmax": words("CategoricalCrossentropy SparseCategoricalCrossentropy KLDivergence"),
    "linear": words("CrossEntropyLoss cross_entropy BCEWithLogitsLoss binary_cross_entropy_with_logits"),
}
_ACTIVATIONS = {plain_name(loss): word for word, losses in _OUTPUTS.items() for loss in losses}


def form_of(loss: str) -> Form | None:
    """The labels a loss takes, by any of its names; none where nothing is demanded that others do not."""
    return _FORMS.get(plain_name(loss))


def takes_any_number(loss: str) -> bool:
    """Losses that can be computed whatever the labels are, though they are made for less."""
    return plain_name(loss) in ("bcewithlogitsloss", "binarycrossentropywithlogits")


def activation_for(loss: str) -> str:
    """The output activation a loss is made for; `linear` when it applies its own, empty when any will do."""
    return _ACTIVATIONS.get(plain_name(loss), "")
