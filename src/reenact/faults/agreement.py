"""What several observations of one fault say together: which to name, where it is, what may help.

They are given with the surest first.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import TypeAlias, TypeVar

from reenact.faults.fault_type import FaultType
from reenact.faults.observation import Certainty, Observation, Observes, Refused, Suggestion
from reenact.types import Place

T = TypeVar("T")

FindingKey: TypeAlias = tuple[str, str, str]
"""Fault type (or `symptom`), what it belongs to, and the layer where a symptom shows."""


def key_of(observation: Observation) -> FindingKey:
    """What it is about: observations with the same key are of one thing."""
    fault = observation.fault
    if fault is None:
        return ("symptom", _name_of(observation), observation.layer)
    counted = fault.counted_as
    if observation.observes is Observes.OPINION:
        return (counted.value, f"opinion at {observation.place}", observation.layer)
    if counted.traits.of_training:
        return (counted.value, "", "")
    param = observation.hyperparameter
    owner = param.layer if param is not None else ""
    return (counted.value, owner or observation.layer, "")


def _name_of(observation: Observation) -> str:
    """What detectors that see one fault have in common; a symptom is its detector's own."""
    shared = observation.fault_name if observation.is_root_cause else ""
    return shared or observation.code


def headline_of(observations: Sequence[Observation]) -> Observation:
    """The observation to name: the surest whose detector is about this very fault, not one that
    infers it.
    """
    first = observations[0]
    about = (one for one in observations if one.detects is first.fault)
    return next(about, first)


def layered_of(observations: Sequence[Observation]) -> Observation | None:
    """The observation that says which layer; none for what belongs to the training."""
    first = observations[0]
    if is_of_training(first.fault):
        return None
    numbered = (one for one in observations if one.layer_index is not None)
    return next(numbered, first)


def place_of(observations: Sequence[Observation]) -> Place | None:
    """Where it stands in the source: a hyperparameter's place before all others. What belongs to
    no layer stands at none, wherever it shows.
    """
    first = observations[0]
    of_training = is_of_training(first.fault)

    def rank(one: Observation) -> int:
        if one.hyperparameter is not None:
            return 0
        return 2 if one.layer and of_training else 1

    placed = (one for one in observations if one.place is not None)
    return min(placed, key=rank, default=first).place


def suggestions_of(observations: Iterable[Observation]) -> tuple[Suggestion, ...]:
    """Different changes that may help: what was measured tells more about a value than what is
    only inferred.
    """
    surest = sorted(observations, key=lambda one: list(Certainty).index(one.certainty))
    suggested = (suggestion for one in surest for suggestion in one.suggestions)
    return firsts(suggested, lambda one: one.patch.to_text())


def candidates_of(observations: Iterable[Observation]) -> tuple[Suggestion, ...]:
    """Different edits of code that should take the fault away, those of the surest first."""
    offered = (candidate for one in observations for candidate in one.candidates)
    return firsts(offered, lambda one: one.patch.to_text())


def refused_of(observations: Iterable[Observation]) -> tuple[Refused, ...]:
    """Why edits of code are not offered."""
    return firsts((refused for one in observations for refused in one.refused), lambda one: one)


def is_of_training(fault: FaultType | None) -> bool:
    """Whether it belongs to no layer."""
    return fault is not None and fault.traits.of_training


def firsts(
    things: Iterable[T],
    key: Callable[[T], Hashable],
) -> tuple[T, ...]:
    """The first thing with each key, in their order."""
    kept: dict[Hashable, T] = {}
    for thing in things:
        kept.setdefault(key(thing), thing)
    return tuple(kept.values())
