"""What the text of a program alone shows: the hyperparameters of one program."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from reenact.plain import plain_line
from reenact.report.document import Diagnostic, Document, Facts, Level, Text
from reenact.types import JsonValue, Table

if TYPE_CHECKING:
    from reenact.program.hyperparameter import Hyperparameter
    from reenact.program.program import Program
    from reenact.program.static_graph import StaticGraph
    from reenact.program.training.static_layer import StaticLayer

UNPARSED = ("PG001", "unparsed-file")
"""Code and name under which a file is reported that cannot be parsed."""


def hyperparameters_document(
    program: Program,
    graph: StaticGraph,
    data: JsonValue,
    *,
    everything: bool,
    layers: bool,
) -> Document:
    """`everything`: also those that are left to the library; `layers`: also the layers as the text
    makes them.
    """
    written = [param for param in graph.hyperparameters if not param.absent]
    absent = [param for param in graph.hyperparameters if param.absent]
    listed = [*written, *absent] if everything else written
    files = ", ".join(str(file.path) for file in program.files)
    columns = ("place", "kind", "of", "value", "written as", "alternatives")
    blocks: list[Facts | Table | Text] = [
        Facts(
            "",
            (("framework", graph.framework.value), ("files", files)),
        ),
        Table(
            "Hyperparameters",
            columns,
            tuple(_row(program, param) for param in listed),
        ),
    ]
    if layers:
        rows = tuple(_layer_row(program, layer) for layer in graph.layers)
        blocks.append(
            Table(
                "Layers",
                ("place", "layer", "type", "activation", "settings"),
                rows,
            )
        )
    hint = "" if everything else " (--all lists them)"
    return Document(
        kind="knobs",
        title=f"Hyperparameters of {program.entry}",
        verdict=f"{len(written)} hyperparameters set, {len(absent)} left to the library{hint}.",
        blocks=tuple(blocks),
        diagnostics=tuple(_unparsed(program)),
        data=data,
    )


def _unparsed(program: Program) -> Sequence[Diagnostic]:
    unparsed = [
        f"{plain_line(str(file.path))} could not be parsed: {file.unparsed}"
        for file in program.unparsed
    ]
    return [Diagnostic(*UNPARSED, Level.WARNING, message) for message in unparsed]


def _row(program: Program, param: Hyperparameter) -> tuple[str, ...]:
    owner = ".".join(part for part in (param.id.model, param.id.layer) if part)
    value = "-" if param.absent else _written(param.value)
    if param.overridden:
        value = f"{value} ({param.overridden}; source: {_written(param.default)})"
    elif param.absent and param.default is not None:
        value = f"- ({_written(param.default)})"
    fixed = f"fixed: {param.reason}" if param.reason else "-"
    choices = ", ".join(_written(choice) for choice in param.alternatives[:5]) or fixed
    more = ""
    if len(param.uses) > 1:
        more = f" (+{len(param.uses) - 1} uses)"
    where = program.where(param.place)
    written = param.written.value + more
    return where, param.kind.value, owner or "training", value, written, choices


def _layer_row(program: Program, layer: StaticLayer) -> tuple[str, ...]:
    name = ".".join(part for part in (layer.model, layer.name) if part)
    settings = (
        ", ".join(f"{name}={_written(value)}" for name, value in layer.settings.items()) or "-"
    )
    return (
        program.where(layer.place),
        name,
        layer.type,
        layer.activation or "-",
        settings,
    )


def _written(value: JsonValue) -> str:
    if value is None:
        return "none"
    if isinstance(value, dict):
        return ", ".join(f"{name} {part}" for name, part in value.items())
    if isinstance(value, float):
        return f"{value:g}"
    return str(value)
