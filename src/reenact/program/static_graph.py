"""The framework, the layers and the hyperparameters of a program as its text reports them, before
anything runs: what static rules look at.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache

from reenact.errors import PatchRefused
from reenact.program.edit.carry_out import turn
from reenact.program.edit.source_editor import SourceEditor
from reenact.program.hyperparameter import Hyperparameter, Kind
from reenact.program.program import Program
from reenact.program.training.analysis import Style
from reenact.program.training.framework import Framework, framework_of
from reenact.program.training.reading import Reading, read
from reenact.program.training.static_layer import StaticLayer, static_layer

TRIED_STYLES = frozenset(
    (
        Style.LOOP,
        Style.INIT,
        Style.APPLY,
        Style.LAYER,
    )
)
TRIED_KINDS = frozenset(
    map(
        Kind,
        (
            "normalization",
            "scheduler",
            "preprocessing",
            "optimizer",
            "momentum",
        ),
    )
)
"""Changes that may turn out to be impossible; all others are a value in the place of a value."""


@dataclass(frozen=True, slots=True)
class StaticGraph:
    """A program's models as text."""

    framework: Framework
    layers: tuple[StaticLayer, ...]
    """In the order of the text."""
    hyperparameters: tuple[Hyperparameter, ...]

    def of_kind(self, kind: Kind) -> tuple[Hyperparameter, ...]:
        return tuple(param for param in self.hyperparameters if param.kind is kind)

    def layer(self, model: str, name: str) -> StaticLayer | None:
        for layer in self.layers:
            if (layer.model, layer.name) == (model, name):
                return layer
        return None


@lru_cache(maxsize=64)
def hyperparameters_of(program: Program) -> tuple[Hyperparameter, ...]:
    """Every hyperparameter that the text of a program reports; nothing is run, no library is
    imported.
    """
    reading = read(program)
    order = {str(file.path): number for number, file in enumerate(program.files)}
    found = [_possible(reading, param) for param in reading.hyperparameters]
    found.sort(
        key=lambda param: (
            order.get(str(param.place.file), 99),
            param.place,
            param.id,
        )
    )
    return tuple(found)


def _possible(reading: Reading, param: Hyperparameter) -> Hyperparameter:
    """A hyperparameter without the alternatives that its program does not allow."""
    site = reading.sites[param.id]
    if (site.style not in TRIED_STYLES and param.kind not in TRIED_KINDS) or not param.alternatives:
        return param
    kept, why = [], ""
    for value in param.alternatives:
        editor = SourceEditor(reading)
        try:
            turn(editor, param, site, value)
            editor.finish()
        except PatchRefused as refusal:
            why = refusal.sentence
        else:
            kept.append(value)
    if kept:
        return replace(param, alternatives=tuple(kept))
    return replace(param, alternatives=(), changeable=False, reason=why)


def static_graph(program: Program) -> StaticGraph:
    """All layers a program's text makes; nothing is run."""
    reading = read(program)
    layers = tuple(static_layer(reading.analysis, layer) for layer in reading.models.layers)
    return StaticGraph(framework_of(program), layers, hyperparameters_of(program))
