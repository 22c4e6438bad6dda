"""`reenact params SCRIPT`: every hyperparameter of a program, where it stands and what else it could be."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from reenact.cli.options import output_format, show
from reenact.report.document import Diagnostic, Document, Facts, Level, Text
from reenact.types import ExitCode, JsonValue, Table

if TYPE_CHECKING:
    from reenact.program.hyperparameter import Hyperparameter
    from reenact.program.program import Program
    from reenact.program.static_graph import StaticGraph


@click.command(context_settings={"ignore_unknown_options": True, "allow_interspersed_args": False})
@click.option(
    "--all", "everything", is_flag=True, help="Also list those that are not set: the library's default holds."
)
@click.option("--layers", is_flag=True, help="Also list the layers as the text makes them.")
@output_format
@click.argument("program", nargs=-1, required=True, type=click.UNPROCESSED)
def params(program: tuple[str, ...], everything: bool, layers: bool, output_format: str) -> ExitCode:
    """List the hyperparameters of a training program: kind, value, place, alternatives.

    PROGRAM is a script, a notebook or `-m package`, followed by its own arguments; `-- torchrun ...` for a
    launcher line. The program is read, never run.
    """
    from reenact.cli.watch import program_words
    from reenact.errors import UnreadableProgram
    from reenact.program.program import read_program
    from reenact.program.static_graph import static_graph

    found = read_program(program_words(program))
    broken = found.unparsed
    if broken and broken[0].path == found.entry:
        raise UnreadableProgram(
            f"The program cannot be parsed: {broken[0].unparsed}. Received: {found.entry}.",
            next_step="Fix the source, or name another script.",
        )
    show(_document(found, static_graph(found), everything, layers), output_format)
    return ExitCode.OK


def _document(program: Program, graph: StaticGraph, everything: bool, layers: bool) -> Document:
    written = [param for param in graph.hyperparameters if not param.absent]
    absent = [param for param in graph.hyperparameters if param.absent]
    shown = [*written, *absent] if everything else written
    rows = tuple(_row(program, param) for param in shown)
    files = ", ".join(str(file.path) for file in program.files)
    blocks: list[Facts | Table | Text] = [
        Facts("", (("framework", graph.framework.value), ("files", files))),
        Table("Hyperparameters", ("place", "kind", "of", "value", "written as", "alternatives"), rows),
    ]
    if layers:
        blocks.append(
            Table("Layers", ("place", "layer", "type", "activation", "settings"), _layer_rows(program, graph))
        )
    hint = "" if everything else " (--all lists them)"
    return Document(
        kind="knobs",
        title=f"Hyperparameters of {program.entry}",
        verdict=f"{len(written)} hyperparameters set, {len(absent)} left to the library{hint}.",
        blocks=tuple(blocks),
        diagnostics=tuple(
            Diagnostic(
                "PG001",
                "unparsed-file",
                Level.WARNING,
                f"{file.path} could not be parsed: {file.unparsed}",
            )
            for file in program.unparsed
        ),
        data=_data(program, graph),
    )


def _data(program: Program, graph: StaticGraph) -> JsonValue:
    return {
        "program": list(program.launch.words),
        "framework": graph.framework.value,
        "files": [str(file.path) for file in program.files],
        "unparsed": [{"file": str(file.path), "reason": file.unparsed} for file in program.unparsed],
        "knobs": [
            {**param.to_json(), "where": program.where(param.place)} for param in graph.hyperparameters
        ],
        "layers": [
            {
                "model": layer.model,
                "name": layer.name,
                "type": layer.type,
                "family": layer.family,
                "file": str(layer.place.file),
                "line": layer.place.line,
                "activation": layer.activation,
                "role": layer.role,
                "settings": layer.settings,
                "feeds": list(layer.feeds),
            }
            for layer in graph.layers
        ],
    }


def _row(program: Program, param: Hyperparameter) -> tuple[str, ...]:
    owner = ".".join(part for part in (param.id.model, param.id.layer) if part)
    value = "-" if param.absent else _written(param.value)
    if param.overridden:
        value = f"{value} ({param.overridden}; source: {_written(param.default)})"
    elif param.absent and param.default is not None:
        value = f"- ({_written(param.default)})"
    choices = ", ".join(_written(choice) for choice in param.alternatives[:5]) or (
        param.reason and f"fixed: {param.reason}"
    )
    more = f" (+{len(param.uses) - 1} uses)" if len(param.uses) > 1 else ""
    return (
        program.where(param.place),
        param.kind.value,
        owner or "training",
        value,
        param.written.value + more,
        choices or "-",
    )


def _layer_rows(program: Program, graph: StaticGraph) -> tuple[tuple[str, ...], ...]:
    return tuple(
        (
            program.where(layer.place),
            ".".join(part for part in (layer.model, layer.name) if part),
            layer.type,
            layer.activation or "-",
            ", ".join(f"{name}={_written(value)}" for name, value in layer.settings.items()) or "-",
        )
        for layer in graph.layers
    )


def _written(value: JsonValue) -> str:
    if value is None:
        return "none"
    if isinstance(value, dict):
        return ", ".join(f"{name} {part}" for name, part in value.items())
    if isinstance(value, float):
        return f"{value:g}"
    return str(value)
