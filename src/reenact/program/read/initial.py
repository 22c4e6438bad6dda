"""Torch layers that nobody initialises: the library's default holds, and an initialiser could be called."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from reenact.program.hyperparameter import Kind
from reenact.program.read.analysis import Draft, ProgramAnalysis, Site, Style
from reenact.program.read.layers import LayerSite, Library
from reenact.program.read.model import Models
from reenact.program.read.seats import Sitting
from reenact.program.read.vocabulary import Family

DEFAULTS = {Kind.WEIGHT_INIT: "kaiming_uniform_", Kind.BIAS_INIT: "uniform_"}


def read_missing_initialisers(
    analysis: ProgramAnalysis, models: Models, drafts: list[Draft]
) -> Iterator[Draft]:
    """Drafts of absent initialisers, unless a function initialises every layer."""
    written = [d for d in drafts if d.kind in DEFAULTS and d.site.library == "torch"]
    if any(not draft.layer for draft in written):
        return
    done = {(draft.model, draft.layer, draft.kind) for draft in written}
    for layer in models.layers:
        if layer.library is not Library.TORCH or layer.spec.family not in (Family.DENSE, Family.CONV):
            continue
        for kind, default in DEFAULTS.items():
            if (layer.model, layer.path, kind) in done:
                continue
            site = Site(
                Style.INIT, "torch", layer.scope, layer.call, layer=layer, reason=_reason(analysis, layer)
            )
            role = "output" if layer.output else "hidden"
            yield analysis.absent(
                kind, site, layer.call, default=default, model=layer.model, layer=layer.path,
                layer_type=layer.name, role=role,
            )  # fmt: skip


def _reason(analysis: ProgramAnalysis, layer: LayerSite) -> str:
    """A layer can be initialised behind its construction when a name leads to it there."""
    if layer.seat.sitting is Sitting.ATTRIBUTE:
        return ""
    statement = analysis.sources.index(layer.scope).statement(layer.call)
    if (
        layer.seat.sitting is Sitting.ELEMENT
        and isinstance(statement, ast.Assign)
        and statement.value is layer.seat.top
    ):
        return ""
    return "the layer has no name by which it could be initialised"
