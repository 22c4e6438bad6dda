"""`reenact explain WORD`: what a rule, an ending, an exit code, a setting or a fault type means."""

from __future__ import annotations

import click

from reenact.api.reference import explain as meaning_of
from reenact.cli.options import echo


@click.command()
@click.argument("word")
def explain(word: str) -> None:
    """Explain a WORD that reenact prints: a rule, an ending, an exit code, a setting, a fault type."""
    echo(meaning_of(word))
