"""A relation between what a script observed and its reference, computed outside the script."""

from enum import StrEnum
from typing import Self

from pydantic import BaseModel, Field, model_validator

from reenact.llm.ask import bounded

LEAST_LETTERS = 6
"""Letters and digits of a message that must be pinned down before the message says anything."""


class Relation(StrEnum):
    """What holds of a value while the bug is there."""

    NOT_FINITE = "not-finite"
    """`observed` holds NaN or infinity."""
    DIFFERS = "differs"
    """`observed` is another value than `reference` (or the expected number), beyond the
    tolerance.
    """
    SAME = "same"
    """`observed` equals `reference` although it should not: an argument or a seed without
    effect.
    """
    NEAR = "near"
    """`observed` is within 5 % of the wrong number that was reported, in the mean over the
    seeds.
    """
    ABOVE = "above"
    """`observed` is larger than the expected number."""
    BELOW = "below"
    """`observed` is smaller than the expected number."""
    SHAPE = "shape"
    """The shape of `observed` is not the expected one, written `2,3`, or not that of
    `reference`.
    """
    DTYPE = "dtype"
    """The type of its elements is not the expected one, for example `float32`, or that of
    `reference`.
    """
    DEVICE = "device"
    """It lies on another device than expected."""
    NO_GRADIENT = "no-gradient"
    """A parameter in `observed` (one, or a list of them) has no gradient, or only zeros, after
    backward.
    """
    WARNS = "warns"
    """Project code warns, and the warning contains the expected words."""
    SLOWER = "slower"
    """The script takes more CPU seconds than the expected number."""
    MEMORY = "memory"
    """The script needs more MiB of memory than the expected number."""

    @property
    def of_a_value(self) -> bool:
        """Whether the script must leave a value named `observed`."""
        return self not in (Relation.WARNS, Relation.SLOWER, Relation.MEMORY)


_NUMBER = (
    Relation.NEAR,
    Relation.ABOVE,
    Relation.BELOW,
    Relation.SLOWER,
    Relation.MEMORY,
)
_TOLERANT = (Relation.DIFFERS, Relation.SAME)
_COMPARED = (
    Relation.DIFFERS,
    Relation.SAME,
    Relation.SHAPE,
    Relation.DTYPE,
    Relation.DEVICE,
)


class Check(BaseModel):
    """The closing check of a silent bug. It is computed outside the script, on what the script observed."""

    relation: Relation = Field(description="What holds while the bug is there.")
    number: float | None = Field(
        default=None, description="The expected number or bound, if there is one."
    )
    text: str = bounded(300, "Expected shape (`2,3`), dtype, device or warning.", default="")
    tolerance: float = Field(
        default=1e-4, ge=0, le=1, description="Relative difference that is none."
    )
    observed: str = bounded(
        300, "What the script is to leave in `observed`, where a value is.", default=""
    )
    reference: str = bounded(
        300, "What it is compared with, where that is no fixed number.", default=""
    )

    @model_validator(mode="after")
    def _complete(self) -> Self:
        if self.relation in _NUMBER and self.number is None:
            raise ValueError(f"the relation {self.relation} needs a number")
        if self.relation is Relation.WARNS and sum(map(str.isalnum, self.text)) < LEAST_LETTERS:
            raise ValueError("the relation warns needs words of the warning in `text`")
        return self

    @classmethod
    def read(cls, words: str, tolerance: float = 1e-4) -> Self:
        """A check as one writes it: `differs`, `above 0.5`, `shape 2,3`. Raises ValueError."""
        name, _, rest = words.strip().partition(" ")
        relation = Relation(name)
        given = rest.strip()
        try:
            number = float(given) if given else None
        except ValueError:
            return cls(relation=relation, text=given, tolerance=tolerance)
        if relation in (Relation.SHAPE, Relation.DTYPE, Relation.DEVICE):
            return cls(relation=relation, text=given, tolerance=tolerance)
        return cls(relation=relation, number=number, tolerance=tolerance)

    @property
    def needs_reference(self) -> bool:
        """Whether the script must leave a value named `reference`."""
        return self.relation in _COMPARED and self.number is None and not self.text

    @property
    def words(self) -> str:
        """The check as a sentence part."""
        words = self.relation.value
        if self.number is not None:
            words += f" {self.number:g}"
        elif self.text:
            words += f" {self.text}"
        if self.relation in _TOLERANT:
            words += f", relative tolerance {self.tolerance:g}"
        return words
