"""`reenact rules`: every rule, the fault it finds and what it needs; `reenact explain WORD`."""

from __future__ import annotations

from pathlib import Path

import click

from reenact.api.reference import explain as meaning_of
from reenact.api.reference import list_rules
from reenact.cli.options import NEW_FOLDER, echo, output_format, show
from reenact.report.document import Document
from reenact.report.rule_pages import rule_cells, rule_data, write_pages
from reenact.types import Table


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
    document = Document(
        kind="rules",
        title="Rules",
        verdict=f"{len(listed)} rules. reenact explain CODE tells what, why and what to do instead.",
        blocks=(Table("", columns, tuple(map(rule_cells, listed))),),
        data=[rule_data(one) for one in listed],
    )
    show(document, output_format)


@click.command()
@click.argument("word")
def explain(word: str) -> None:
    """Explain a WORD that reenact prints: a rule, an ending, an exit code, a setting, a fault type."""
    echo(meaning_of(word))
