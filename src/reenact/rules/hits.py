"""The first hit: DeepLocalize and DeepDiagnosis go through the layers and stop at the first that is wrong."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from reenact.rules.evidence import Evidence
from reenact.rules.layer_view import LayerView

WINDOW = 5
"""Batches, or epochs, that the tools compare."""


@dataclass(frozen=True, slots=True)
class Hit:
    """A layer, what is wrong with it and since when."""

    layer: LayerView
    step: int
    what: str
    sure: float
    """Confidence in a finding of this kind."""

    @property
    def saw(self) -> str:
        return f"{self.what} in layer {self.layer.name} ({self.layer.type}) at step {self.step}"


Symptom = tuple[str, float, Callable[[LayerView], int | None]]
"""What is wrong, how sure that makes, and the step at which a layer shows it."""


def first_hit(layers: Iterable[LayerView], symptoms: Iterable[Symptom]) -> Hit | None:
    """The earliest hit; of several at one step that of the first layer in the order given."""
    kinds = tuple(symptoms)
    found = [
        Hit(layer, step, what, sure)
        for layer in layers
        for what, sure, when in kinds
        if (step := when(layer)) is not None
    ]
    return min(found, key=lambda hit: hit.step, default=None)


def behind_weights(evidence: Evidence) -> tuple[LayerView, ...]:
    """Layers whose output training can change: the first with weights, and all that follow and are known."""
    numbers = [number for number, layer in enumerate(evidence.layers) if layer.weighted]
    if not numbers:
        return ()
    return tuple(layer for layer in evidence.layers[numbers[0] :] if layer.family)
