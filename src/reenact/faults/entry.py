"""A fault as detectors and pages know it: its code, its name, its category, its page."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Category(StrEnum):
    """What part of a training a fault is in; the folders of `reenact.faults`."""

    OPTIMISATION = "optimisation"
    """Optimizer, learning rate, schedule, gradients, what is updated."""
    DATA = "data"
    """Inputs, their order and their scale."""
    LABELS = "labels"
    """Targets and how they meet the outputs."""
    OUTPUT = "output"
    """The last layer and the loss."""
    LAYERS = "layers"
    """Architecture, activations, initial weights."""
    EVALUATION = "evaluation"
    """Validation, metrics, train and evaluation mode."""
    SEQUENCE = "sequence"
    """Masks, padding, shifts, episodes."""
    NUMERICS = "numerics"
    """NaN, infinity, too few bits."""
    CRASH = "crash"
    """The program ended with an exception."""
    OTHER = "other"
    """What none of these names."""


@dataclass(frozen=True, slots=True)
class FaultEntry:
    """One thing that can be wrong, by the name that people search for."""

    code: str
    """Two letters for the category and two digits; never given to another fault."""
    name: str
    """In the words of the field, joined by hyphens."""
    category: Category
    page: str
    """The docstring of its file: sections What, Why, Symptom, Example, Instead, Fix safety,
    Sources.
    """
