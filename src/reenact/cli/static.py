"""What the text of a program shows, and the rules that say so: nothing is run.

`reenact lint FILES`: the static rules on many files at once, for hooks, editors and build servers.
`reenact params SCRIPT`: every hyperparameter, where it stands and what else it could be.
`reenact rules`: every rule, the fault it finds and what it needs; `reenact explain WORD`.
"""

from __future__ import annotations

from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any

import click

from reenact.api.linting import lint as run_lint
from reenact.api.reference import Hyperparameters, hyperparameters, list_rules
from reenact.api.reference import explain as meaning_of
from reenact.cli.calling import PROGRAM, program_words
from reenact.cli.options import NEW_FOLDER, echo, listed, option, output_format, shared, show, terminal_width
from reenact.report.document import Diagnostic, Document, Facts, Level, Text
from reenact.report.rule_pages import rule_cells, rule_data, write_pages
from reenact.types import ExitCode, JsonValue, Place, Table

if TYPE_CHECKING:
    from reenact.program.hyperparameter import Hyperparameter
    from reenact.program.program import Program
    from reenact.program.static_graph import StaticLayer

UNSET = "Also list those that are not set: the library's default holds."
UNREAD, UNREAD_NAME = "PG001", "unparsed-file"


@click.command()
@shared("select", "ignore")
@option("--exclude", "Not what this matches: tests, '*_test.py', 'old/*'.", multiple=True, callback=listed)
@shared("threshold", "output-format")
@click.argument("paths", nargs=-1, type=click.Path(exists=True, path_type=Path))
def lint(paths: tuple[Path, ...], output_format: str, **given: Any) -> int:
    """Say what the text of training programs alone shows to be wrong.

    PATHS are files, notebooks and folders; default: this folder. Each file is read by itself: nothing is
    run, no framework is imported, nothing is recorded. Every file is checked, also when another cannot be
    parsed. Exit code 0: no rule fires, 1: findings, 2: no findings, but a file that cannot be parsed.
    """
    result = run_lint(*paths, **given)
    notices: list[Diagnostic] = []
    for one in result.files:
        notices += one.diagnostics
        if one.unread:
            message, at = f"{one.path} could not be parsed: {one.unread}", Place(PurePosixPath(one.path), 1)
            notices.append(Diagnostic(UNREAD, UNREAD_NAME, Level.ERROR, message, at))
    data, code = result.to_dict(), result.exit_code
    show(Document("lint", "Static rules", result.sentence, (), tuple(notices), data, "", code), output_format)
    return code


@click.command(context_settings=PROGRAM)
@option("--all", UNSET, name="everything", is_flag=True)
@click.option("--layers", is_flag=True, help="Also list the layers as the text makes them.")
@shared("output-format", "program")
def params(program: tuple[str, ...], everything: bool, layers: bool, output_format: str) -> ExitCode:
    """List the hyperparameters of a training program: kind, value, place, alternatives.

    PROGRAM is a script, a notebook or `-m package`, followed by its own arguments; `-- torchrun ...` for a
    launcher line. The program is read, never run.
    """
    show(_document(hyperparameters(program_words(program)), everything, layers), output_format)
    return ExitCode.OK


def _document(result: Hyperparameters, everything: bool, layers: bool) -> Document:
    program = result.program
    written = [param for param in result.hyperparameters if not param.absent]
    absent = [param for param in result.hyperparameters if param.absent]
    rows = tuple(_row(program, param) for param in [*written, *(absent if everything else ())])
    files = ", ".join(str(file.path) for file in program.files)
    blocks: list[Facts | Table | Text] = [
        Facts("", (("framework", result.framework.value), ("files", files))),
        Table("Hyperparameters", ("place", "kind", "of", "value", "written as", "alternatives"), rows),
    ]
    if layers:
        rows = tuple(_layer_row(program, layer) for layer in result.layers)
        blocks.append(Table("Layers", ("place", "layer", "type", "activation", "settings"), rows))
    unread = [f"{file.path} could not be parsed: {file.unparsed}" for file in program.unparsed]
    hint, title = "" if everything else " (--all lists them)", f"Hyperparameters of {program.entry}"
    verdict = f"{len(written)} hyperparameters set, {len(absent)} left to the library{hint}."
    notices = tuple(Diagnostic(UNREAD, UNREAD_NAME, Level.WARNING, each) for each in unread)
    return Document("knobs", title, verdict, tuple(blocks), notices, result.to_dict())


def _row(program: Program, param: Hyperparameter) -> tuple[str, ...]:
    owner = ".".join(part for part in (param.id.model, param.id.layer) if part)
    value = "-" if param.absent else _written(param.value)
    if param.overridden:
        value = f"{value} ({param.overridden}; source: {_written(param.default)})"
    elif param.absent and param.default is not None:
        value = f"- ({_written(param.default)})"
    fixed = f"fixed: {param.reason}" if param.reason else "-"
    choices = ", ".join(_written(choice) for choice in param.alternatives[:5]) or fixed
    more = f" (+{len(param.uses) - 1} uses)" if len(param.uses) > 1 else ""
    where, written = program.where(param.place), param.written.value + more
    return where, param.kind.value, owner or "training", value, written, choices


def _layer_row(program: Program, layer: StaticLayer) -> tuple[str, ...]:
    name = ".".join(part for part in (layer.model, layer.name) if part)
    settings = ", ".join(f"{name}={_written(value)}" for name, value in layer.settings.items()) or "-"
    return program.where(layer.place), name, layer.type, layer.activation or "-", settings


def _written(value: JsonValue) -> str:
    if value is None:
        return "none"
    if isinstance(value, dict):
        return ", ".join(f"{name} {part}" for name, part in value.items())
    return f"{value:g}" if isinstance(value, float) else str(value)


@click.command()
@click.argument("words", nargs=-1)
@click.option("--write", "folder", type=NEW_FOLDER, help="Write a page a rule and an index.")
@output_format
def rules(words: tuple[str, ...], folder: Path | None, output_format: str) -> None:
    """List all rules, or those whose code, prefix, name or family is among WORDS."""
    if folder is not None:
        echo(f"{len(write_pages(folder))} pages written to {folder}.")
        return
    listed = list_rules(*words)
    columns = ("code", "name", "family", "fault", "needs", "status")
    verdict = f"{len(listed)} rules. reenact explain CODE tells what, why and what to do instead."
    table, data = Table("", columns, tuple(map(rule_cells, listed))), [rule_data(one) for one in listed]
    show(Document("rules", "Rules", verdict, (table,), data=data), output_format)


@click.command()
@click.argument("word")
def explain(word: str) -> None:
    """Explain a WORD that reenact prints: a rule, an ending, an exit code, a setting, a fault type."""
    echo(meaning_of(word, terminal_width()))
