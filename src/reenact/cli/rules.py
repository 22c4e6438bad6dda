"""`reenact rules`: every rule, the fault it finds and what it needs."""

from __future__ import annotations

from pathlib import Path

import click

from reenact.api import list_rules
from reenact.cli.options import echo, output_format, show
from reenact.report.document import Document
from reenact.report.rule_pages import rule_data, write_pages
from reenact.rules.rule import Rule
from reenact.types import Table


@click.command()
@click.argument("words", nargs=-1)
@click.option(
    "--write",
    "folder",
    type=click.Path(file_okay=False, path_type=Path),
    help="Write a page a rule and an index.",
)
@output_format
def rules(words: tuple[str, ...], folder: Path | None, output_format: str) -> None:
    """List all rules, or those whose code, prefix, name or family is among WORDS."""
    if folder is not None:
        echo(f"{len(write_pages(folder))} pages written to {folder}.")
        return
    listed = list_rules(*words)
    rows = tuple(
        (one.code, one.name, one.family, one.fault.value if one.fault else "-", _needs(one), one.status.value)
        for one in listed
    )
    columns = ("code", "name", "family", "fault", "needs", "status")
    document = Document(
        kind="rules",
        title="Rules",
        verdict=f"{len(rows)} rules. reenact explain CODE tells what, why and what to do instead.",
        blocks=(Table("", columns, rows),),
        data=[rule_data(one) for one in listed],
    )
    show(document, output_format)


def _needs(one: Rule) -> str:
    return " ".join(str(need.name).lower() for need in one.needs)
